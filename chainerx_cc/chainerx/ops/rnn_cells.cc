#include "chainerx/ops/rnn_cells.h"

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {

const LstmKernel kLstmKernel{"lstm"};
const LstmGradKernel kLstmGradKernel{"lstm_grad"};
const TreeLstmKernel kTreeLstmKernel{"tree_lstm"};
const TreeLstmGradKernel kTreeLstmGradKernel{"tree_lstm_grad"};

namespace internal {

Array SigmoidSlope(const Array& y) { return y * (Scalar{1} - y); }

LstmParts GetLstmGrads(const LstmParts& parts, const Array& gc, const Array& gh) {
    LstmParts grads;
    std::vector<Array> a;
    std::vector<Array> i;
    std::vector<Array> f;
    Array c;
    auto add = [&c](const Array& term) { c = c ? c + term : term; };
    for (size_t j = 0; j < parts.a.size(); ++j) {
        a.push_back(Tanh(parts.a[j]));
        i.push_back(Sigmoid(parts.i[j]));
        add(a[j] * i[j]);
    }
    for (size_t k = 0; k < parts.f.size(); ++k) {
        f.push_back(Sigmoid(parts.f[k]));
        add(f[k] * parts.c[k]);
    }
    Array o = Sigmoid(parts.o);
    Array tanh_c = Tanh(c);
    Array g = gc + gh * o * (Scalar{1} - Square(tanh_c));
    for (size_t j = 0; j < a.size(); ++j) {
        grads.a.push_back(g * i[j] * (Scalar{1} - Square(a[j])));
        grads.i.push_back(g * a[j] * SigmoidSlope(i[j]));
    }
    for (size_t k = 0; k < f.size(); ++k) {
        grads.f.push_back(g * parts.c[k] * SigmoidSlope(f[k]));
        grads.c.push_back(g * f[k]);
    }
    grads.o = gh * tanh_c * SigmoidSlope(o);
    return grads;
}

std::vector<Array> ExtractGates(const Array& x, int64_t n, Gates gates) {
    if (gates == Gates::kBlocks) return Split(x, n, 1);
    Shape shape{x.shape()[0], x.shape()[1] / n, n};
    for (int8_t i = 2; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    Array seen = Reshape(x, shape);
    std::vector<Array> out;
    for (int64_t i = 0; i < n; ++i) out.push_back(At(seen, {Slice{}, Slice{}, i}));
    return out;
}

Array JoinGates(const std::vector<Array>& parts, Gates gates) {
    if (gates == Gates::kBlocks) return Concatenate(parts, 1);
    Shape shape = parts.front().shape();
    shape[1] *= static_cast<int64_t>(parts.size());
    return Reshape(Stack(parts, 2), shape);
}

}  // namespace internal

namespace {

using internal::ExtractGates;
using internal::JoinGates;
using internal::LstmParts;

Array DataOrNone(const Array& a) { return a ? internal::KernelInput(a) : a; }

// ---------------------------------------------------------------- LSTM

struct LstmBackward {
    Saved c_prev;
    Saved x;
    Saved c;  // outside graphs
    Gates gates;

    void operator()(BackwardContext& ctx) const {
        const Array& cs = c_prev.Get();
        const Array& xs = x.Get();
        const Array& gc = ctx.grad(0);
        const Array& gh = ctx.grad(1);
        if (internal::GetRecordMask({&cs, &xs, &gc, &gh}) != 0) {
            std::vector<Array> g = ExtractGates(xs, 4, gates);
            LstmParts grads = internal::GetLstmGrads({{g[0]}, {g[1]}, {g[2]}, {cs}, g[3]}, ctx.GradOrZeros(0),
                                                     ctx.GradOrZeros(1));
            if (ctx.IsWanted(0)) ctx.SetGrad(0, grads.c[0]);
            if (ctx.IsWanted(1)) ctx.SetGrad(1, JoinGates({grads.a[0], grads.i[0], grads.f[0], grads.o}, gates));
            return;
        }
        Array gc_prev = EmptyLike(cs);
        Array gx = EmptyLike(xs);
        kLstmGradKernel(xs.device(), internal::KernelInput(cs), internal::KernelInput(xs), gates, c.Get(),
                        DataOrNone(gc), DataOrNone(gh), gc_prev, gx);
        if (ctx.IsWanted(0)) ctx.SetGrad(0, gc_prev);
        if (ctx.IsWanted(1)) ctx.SetGrad(1, gx);
    }
};

// ---------------------------------------------------------------- cells with other numbers of children

struct TreeBackward {
    std::vector<Saved> c_prevs;
    std::vector<Saved> xs;
    Saved c;  // outside graphs

    // All gates: of x (B, (children + 3) U) a, i, o, f_1, ... in blocks; or of each of two x (B, 4 U) a, i, f, o
    // interleaved.
    LstmParts Parts() const {
        LstmParts parts;
        for (const Saved& saved : c_prevs) parts.c.push_back(saved.Get());
        if (xs.size() == 1) {
            std::vector<Array> g = ExtractGates(xs[0].Get(), static_cast<int64_t>(c_prevs.size()) + 3, Gates::kBlocks);
            parts.a = {g[0]};
            parts.i = {g[1]};
            parts.o = g[2];
            parts.f.assign(g.begin() + 3, g.end());
            return parts;
        }
        for (const Saved& x : xs) {
            std::vector<Array> g = ExtractGates(x.Get(), 4, Gates::kInterleaved);
            parts.a.push_back(g[0]);
            parts.i.push_back(g[1]);
            parts.f.push_back(g[2]);
            parts.o = parts.o ? parts.o + g[3] : g[3];
        }
        return parts;
    }

    void operator()(BackwardContext& ctx) const {
        size_t children = c_prevs.size();
        GraphMask mask = internal::GetRecordMask({&ctx.grad(0), &ctx.grad(1)});
        for (const Saved& saved : c_prevs) mask |= internal::GetRecordMask(saved.Get());
        for (const Saved& saved : xs) mask |= internal::GetRecordMask(saved.Get());
        std::vector<Array> grads;
        if (mask != 0) {
            LstmParts g = internal::GetLstmGrads(Parts(), ctx.GradOrZeros(0), ctx.GradOrZeros(1));
            grads = g.c;
            if (xs.size() == 1) {
                std::vector<Array> gates{g.a[0], g.i[0], g.o};
                gates.insert(gates.end(), g.f.begin(), g.f.end());
                grads.push_back(JoinGates(gates, Gates::kBlocks));
            } else {
                for (size_t j = 0; j < xs.size(); ++j) {
                    grads.push_back(JoinGates({g.a[j], g.i[j], g.f[j], g.o}, Gates::kInterleaved));
                }
            }
        } else {
            std::vector<Array> c_data;
            std::vector<Array> x_data;
            for (const Saved& saved : c_prevs) c_data.push_back(internal::KernelInput(saved.Get()));
            for (const Saved& saved : xs) x_data.push_back(internal::KernelInput(saved.Get()));
            for (const Array& a : c_data) grads.push_back(EmptyLike(a));
            for (const Array& a : x_data) grads.push_back(EmptyLike(a));
            kTreeLstmGradKernel(c.Get().device(), c_data, x_data, c.Get(), DataOrNone(ctx.grad(0)),
                                DataOrNone(ctx.grad(1)), grads);
        }
        for (size_t i = 0; i < children + xs.size(); ++i) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, grads[i]);
        }
    }
};

// All of two dimensions.
CellOutput TreeCell(const char* name, const std::vector<Array>& c_prevs, const std::vector<Array>& xs) {
    std::vector<Array> c_data;
    std::vector<Array> x_data;
    std::vector<const Array*> inputs;
    GraphMask mask = 0;
    auto collect = [&](const std::vector<Array>& arrays, std::vector<Array>* data) {
        for (const Array& a : arrays) {
            data->push_back(internal::KernelInput(a));
            inputs.push_back(&a);
            mask |= internal::GetRecordMask(a);
        }
    };
    collect(c_prevs, &c_data);
    collect(xs, &x_data);
    Array c = EmptyLike(c_prevs[0]);
    Array h = EmptyLike(c);
    kTreeLstmKernel(c.device(), c_data, x_data, c, h);
    if (mask != 0) {
        TreeBackward backward;
        for (const Array& a : c_prevs) backward.c_prevs.emplace_back(a);
        for (const Array& a : xs) backward.xs.emplace_back(a);
        backward.c = Saved{c.AsDetached()};
        internal::Record(name, mask, inputs, {&c, &h}, std::move(backward));
    }
    return {c, h};
}

// Axes behind the second belong to the batch.
Array ToRows(const Array& a) {
    if (a.ndim() == 2) return a;
    int64_t width = a.shape()[1];
    int64_t rows = width == 0 ? 0 : a.GetTotalSize() / width;
    return Reshape(Moveaxis(a, Axes{1}, Axes{-1}), Shape{rows, width});
}

CellOutput FromRows(const CellOutput& rows, const Shape& shape) {
    if (shape.ndim() == 2) return rows;
    Shape moved = shape;
    int64_t width = moved[1];
    for (int i = 1; i < shape.ndim() - 1; ++i) moved[i] = moved[i + 1];
    moved.back() = width;
    auto restore = [&moved](const Array& a) { return Moveaxis(Reshape(a, moved), Axes{-1}, Axes{1}); };
    return {restore(std::get<0>(rows)), restore(std::get<1>(rows))};
}

std::vector<Array> ToRows(const std::vector<Array>& arrays) {
    std::vector<Array> out;
    for (const Array& a : arrays) out.push_back(ToRows(a));
    return out;
}

void CheckCell(const char* op, const Array& c_prev, const Array& x, int64_t gates, bool equal_batches) {
    CheckDevices(c_prev, x);
    if (!IsFloat(c_prev.dtype()) || c_prev.dtype() != x.dtype()) {
        throw DtypeError{op, ": c_prev and x must be of one floating point dtype, not ", c_prev.dtype(), " and ",
                         x.dtype()};
    }
    bool fits = c_prev.ndim() >= 2 && x.ndim() == c_prev.ndim() && x.shape()[1] == gates * c_prev.shape()[1] &&
                (equal_batches ? x.shape()[0] == c_prev.shape()[0] : x.shape()[0] <= c_prev.shape()[0]) &&
                std::equal(x.shape().begin() + 2, x.shape().end(), c_prev.shape().begin() + 2);
    if (!fits) {
        throw DimensionError{op,
                             ": c_prev of shape ",
                             c_prev.shape(),
                             " and x of shape ",
                             x.shape(),
                             " do not match (B, U, ...) and (B, ",
                             gates,
                             " U, ...)"};
    }
}

}  // namespace

namespace internal {

CellOutput LstmCell(const Array& c_prev, const Array& x, Gates gates) {
    Array c = EmptyLike(c_prev);
    Array h = EmptyLike(c_prev);
    kLstmKernel(x.device(), internal::KernelInput(c_prev), internal::KernelInput(x), gates, c, h);
    if (GraphMask mask = GetRecordMask({&c_prev, &x})) {
        Saved kept{c.AsDetached()};
        Record("lstm", mask, {&c_prev, &x}, {&c, &h}, LstmBackward{Saved{c_prev}, Saved{x}, kept, gates});
    }
    return {c, h};
}

}  // namespace internal

CHAINERX_ROUTINE(Lstm, "lstm", "c_prev, x", "lstm lstm_grad", R"(
Cell of long short-term memory.

.. math::
    c &= \tanh(a) \, \sigma(i) + c_{prev} \, \sigma(f) \\
    h &= \tanh(c) \, \sigma(o)

The gates lie side by side: the first four columns of ``x`` are ``a``, ``i``, ``f`` and ``o`` of the first unit, and so
on. Where ``x`` has fewer rows than ``c_prev``, the sequences of the last rows have ended; their cell states stay.
Differentiable any number of times.

Args:
    c_prev (~chainerx.ndarray): Cell states of shape :math:`(B, U, ...)`, of a floating point dtype.
    x (~chainerx.ndarray): Gates before their activations, of shape :math:`(N, 4 U, ...)` with :math:`N \le B`.

Returns:
    tuple of ~chainerx.ndarray: New cell states of shape :math:`(B, U, ...)`, and hidden states of shape
    :math:`(N, U, ...)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Hochreiter and Schmidhuber, Long short-term memory, 1997.

>>> c, h = chainerx.lstm(chainerx.zeros((2, 3)), chainerx.ones((2, 12)))
>>> c.shape, h.shape
((2, 3), (2, 3))
)");
CellOutput Lstm(const Array& c_prev, const Array& x) {
    CheckCell("lstm", c_prev, x, 4, false);
    int64_t n = x.shape()[0];
    if (n < c_prev.shape()[0]) {
        std::vector<Array> parts = Split(c_prev, std::vector<int64_t>{n}, 0);
        auto [c, h] = Lstm(parts[0], x);
        return {Concatenate({c, parts[1]}, 0), h};
    }
    return FromRows(internal::LstmCell(ToRows(c_prev), ToRows(x), Gates::kInterleaved), c_prev.shape());
}

CHAINERX_ROUTINE(Slstm, "slstm", "c_prev1, c_prev2, x1, x2", "tree_lstm tree_lstm_grad", R"(
Cell of long short-term memory that merges two branches of a tree.

.. math::
    c &= \sum_{k = 1, 2} \tanh(a_k) \, \sigma(i_k) + c_k \, \sigma(f_k) \\
    h &= \tanh(c) \, \sigma(o_1 + o_2)

The gates lie as in :func:`chainerx.lstm`. Differentiable any number of times.

Args:
    c_prev1, c_prev2 (~chainerx.ndarray): Cell states of the branches, of shape :math:`(B, U, ...)`.
    x1, x2 (~chainerx.ndarray): Gates of the branches before their activations, of shape :math:`(B, 4 U, ...)`.

Returns:
    tuple of ~chainerx.ndarray: New cell states and hidden states.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Zhu et al., Long short-term memory over tree structures, ICML 2015.

>>> c, x = chainerx.zeros((2, 3)), chainerx.ones((2, 12))
>>> c, h = chainerx.slstm(c, c, x, x)
>>> c.shape, h.shape
((2, 3), (2, 3))
)");
CellOutput Slstm(const Array& c_prev1, const Array& c_prev2, const Array& x1, const Array& x2) {
    CheckCell("slstm", c_prev1, x1, 4, true);
    CheckCell("slstm", c_prev2, x2, 4, true);
    CheckDevices(c_prev1, c_prev2);
    if (c_prev1.dtype() != c_prev2.dtype()) {
        throw DtypeError{"slstm: c_prev1 has dtype ", c_prev1.dtype(), " but c_prev2 ", c_prev2.dtype()};
    }
    if (c_prev1.shape() != c_prev2.shape()) {
        throw DimensionError{"slstm: c_prev1 has shape ", c_prev1.shape(), " but c_prev2 ", c_prev2.shape()};
    }
    return FromRows(TreeCell("slstm", ToRows({c_prev1, c_prev2}), ToRows({x1, x2})), c_prev1.shape());
}

CHAINERX_ROUTINE(TreeLstm, "tree_lstm", "*inputs", "tree_lstm tree_lstm_grad", R"(
Cell of long short-term memory with any number of children.

.. math::
    c &= \tanh(a) \, \sigma(i) + \sum_k c_k \, \sigma(f_k) \\
    h &= \tanh(c) \, \sigma(o)

Differentiable any number of times.

Args:
    *inputs (~chainerx.ndarray): Cell states :math:`c_1, ..., c_K` of the children, of shape :math:`(B, U, ...)`; then
        the gates before their activations, of shape :math:`(B, (K + 3) U, ...)`: ``a`` of all units, then ``i``,
        ``o``, and ``f`` of each child.

Returns:
    tuple of ~chainerx.ndarray: New cell states and hidden states.

Raises:
    ~chainerx.ChainerxError: If there are less than two arrays.
    ~chainerx.DimensionError: If the shapes do not fit.

See: Tai et al., Improved semantic representations from tree-structured long short-term memory networks, ACL 2015.

>>> child = chainerx.zeros((2, 3))
>>> c, h = chainerx.tree_lstm(child, child, chainerx.ones((2, 15)))
>>> c.shape, h.shape
((2, 3), (2, 3))
)");
CellOutput TreeLstm(const std::vector<Array>& inputs) {
    if (inputs.size() < 2) throw ChainerxError{"tree_lstm: at least 2 arrays are needed, got ", inputs.size()};
    std::vector<Array> children{inputs.begin(), inputs.end() - 1};
    const Array& x = inputs.back();
    for (const Array& child : children) {
        CheckCell("tree_lstm", child, x, static_cast<int64_t>(children.size()) + 3, true);
    }
    return FromRows(TreeCell("tree_lstm", ToRows(children), {ToRows(x)}), children[0].shape());
}

}  // namespace chainerx
