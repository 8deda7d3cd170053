#include "chainerx/ops/rnn.h"

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {

const LstmKernel kLstmKernel{"lstm"};
const LstmGradKernel kLstmGradKernel{"lstm_grad"};
const GruKernel kGruKernel{"gru"};
const GruGradKernel kGruGradKernel{"gru_grad"};

namespace {

Array Data(const Array& a) { return AsContiguous(a.AsDetached()); }

Array Slope(const Array& y) { return y * (Scalar{1} - y); }  // of sigmoid, from its value

// ---------------------------------------------------------------- LSTM cell

// The gates of x (B, n U, ...).
std::vector<Array> ExtractGates(const Array& x, int64_t n, Gates gates) {
    if (gates == Gates::kBlocks) return Split(x, n, 1);
    Shape shape = x.shape();
    shape[1] /= n;
    shape.insert(2, n);
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
        if (internal::GetRecordMask({&cs, &xs, &gc, &gh}) != 0) return Compose(ctx, cs, xs);
        Array gc_prev = Empty(cs.shape(), cs.dtype(), cs.device());
        Array gx = Empty(xs.shape(), xs.dtype(), xs.device());
        kLstmGradKernel(xs.device(), Data(cs), Data(xs), gates, c.Get(), gc ? Data(gc) : gc, gh ? Data(gh) : gh,
                        gc_prev, gx);
        if (ctx.IsWanted(0)) ctx.SetGrad(0, gc_prev);
        if (ctx.IsWanted(1)) ctx.SetGrad(1, gx);
    }

    // The same in operations that have gradients themselves.
    void Compose(BackwardContext& ctx, const Array& cs, const Array& xs) const {
        std::vector<Array> raw = ExtractGates(xs, 4, gates);
        Array a = Tanh(raw[0]);
        Array i = Sigmoid(raw[1]);
        Array f = Sigmoid(raw[2]);
        Array o = Sigmoid(raw[3]);
        Array tanh_c = Tanh(f * cs + i * a);
        Array gh = ctx.GradOrZeros(1);
        Array gc = ctx.GradOrZeros(0) + gh * o * (Scalar{1} - Square(tanh_c));
        if (ctx.IsWanted(0)) ctx.SetGrad(0, gc * f);
        if (ctx.IsWanted(1)) {
            ctx.SetGrad(1, JoinGates({gc * i * (Scalar{1} - Square(a)), gc * a * Slope(i), gc * cs * Slope(f),
                                      gh * tanh_c * Slope(o)},
                                     gates));
        }
    }
};

// c_prev (B, U), x (B, 4 U)
CellOutput LstmCell(const Array& c_prev, const Array& x, Gates gates) {
    Array c = Empty(c_prev.shape(), c_prev.dtype(), c_prev.device());
    Array h = Empty(c_prev.shape(), c_prev.dtype(), c_prev.device());
    kLstmKernel(x.device(), Data(c_prev), Data(x), gates, c, h);
    if (GraphMask mask = internal::GetRecordMask({&c_prev, &x})) {
        Saved kept{c.AsDetached()};
        internal::Record("lstm", mask, {&c_prev, &x}, {&c, &h}, LstmBackward{Saved{c_prev}, Saved{x}, kept, gates});
    }
    return {c, h};
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

Array ChannelsLast(const Array& a) { return Moveaxis(a, Axes{1}, Axes{-1}); }

}  // namespace

CellOutput Lstm(const Array& c_prev, const Array& x) {
    CheckCell("lstm", c_prev, x, 4, false);
    int64_t n = x.shape()[0];
    if (n < c_prev.shape()[0]) {
        std::vector<Array> parts = Split(c_prev, std::vector<int64_t>{n}, 0);
        auto [c, h] = Lstm(parts[0], x);
        return {Concatenate({c, parts[1]}, 0), h};
    }
    if (c_prev.ndim() == 2) return LstmCell(c_prev, x, Gates::kInterleaved);
    // Further axes belong to the batch.
    Array cs = ChannelsLast(c_prev);
    int64_t units = c_prev.shape()[1];
    int64_t rows = 1;
    for (int i = 0; i < cs.ndim() - 1; ++i) rows *= cs.shape()[i];
    auto [c, h] = LstmCell(Reshape(cs, Shape{rows, units}), Reshape(ChannelsLast(x), Shape{rows, 4 * units}),
                           Gates::kInterleaved);
    auto restore = [&cs](const Array& a) { return Moveaxis(Reshape(a, cs.shape()), Axes{-1}, Axes{1}); };
    return {restore(c), restore(h)};
}

CellOutput Slstm(const Array& c_prev1, const Array& c_prev2, const Array& x1, const Array& x2) {
    CheckCell("slstm", c_prev1, x1, 4, true);
    CheckCell("slstm", c_prev2, x2, 4, true);
    if (c_prev1.shape() != c_prev2.shape()) {
        throw DimensionError{"slstm: c_prev1 has shape ", c_prev1.shape(), " but c_prev2 ", c_prev2.shape()};
    }
    std::vector<Array> g1 = ExtractGates(x1, 4, Gates::kInterleaved);
    std::vector<Array> g2 = ExtractGates(x2, 4, Gates::kInterleaved);
    Array c = Tanh(g1[0]) * Sigmoid(g1[1]) + Tanh(g2[0]) * Sigmoid(g2[1]) + Sigmoid(g1[2]) * c_prev1 +
              Sigmoid(g2[2]) * c_prev2;
    return {c, Sigmoid(g1[3] + g2[3]) * Tanh(c)};
}

CellOutput TreeLstm(const std::vector<Array>& inputs) {
    if (inputs.size() < 2) throw ChainerxError{"tree_lstm: at least 2 arrays are needed, got ", inputs.size()};
    size_t children = inputs.size() - 1;
    const Array& x = inputs.back();
    for (size_t i = 0; i < children; ++i)
        CheckCell("tree_lstm", inputs[i], x, static_cast<int64_t>(children) + 3, true);
    std::vector<Array> gates = ExtractGates(x, static_cast<int64_t>(children) + 3, Gates::kBlocks);
    Array c = Tanh(gates[0]) * Sigmoid(gates[1]);
    for (size_t i = 0; i < children; ++i) c = c + Sigmoid(gates[3 + i]) * inputs[i];
    return {c, Sigmoid(gates[2]) * Tanh(c)};
}

// ---------------------------------------------------------------- GRU cell

namespace {

struct GruBackward {
    Saved h_prev;
    Saved x;
    Saved s;

    void operator()(BackwardContext& ctx) const {
        const Array& h = h_prev.Get();
        const Array& xs = x.Get();
        const Array& ss = s.Get();
        const Array& gh = ctx.grad();
        Array grads[3];
        if (internal::GetRecordMask({&h, &xs, &ss, &gh}) != 0) {
            std::vector<Array> gx = Split(xs, 3, 1);
            std::vector<Array> gs = Split(ss, 3, 1);
            Array r = Sigmoid(gx[0] + gs[0]);
            Array z = Sigmoid(gx[1] + gs[1]);
            Array a = Tanh(gx[2] + r * gs[2]);
            Array ga = gh * (Scalar{1} - z) * (Scalar{1} - Square(a));
            Array gz = gh * (h - a) * Slope(z);
            Array gr = ga * gs[2] * Slope(r);
            grads[0] = gh * z;
            grads[1] = Concatenate({gr, gz, ga}, 1);
            grads[2] = Concatenate({gr, gz, ga * r}, 1);
        } else {
            grads[0] = Empty(h.shape(), h.dtype(), h.device());
            grads[1] = Empty(xs.shape(), h.dtype(), h.device());
            grads[2] = Empty(xs.shape(), h.dtype(), h.device());
            kGruGradKernel(h.device(), Data(h), Data(xs), Data(ss), Data(gh), grads[0], grads[1], grads[2]);
        }
        for (size_t i = 0; i < 3; ++i) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, grads[i]);
        }
    }
};

Array GruCell(const Array& h_prev, const Array& x, const Array& s) {
    Array h = Empty(h_prev.shape(), h_prev.dtype(), h_prev.device());
    kGruKernel(x.device(), Data(h_prev), Data(x), Data(s), h);
    if (GraphMask mask = internal::GetRecordMask({&h_prev, &x, &s})) {
        internal::Record("gru", mask, {&h_prev, &x, &s}, {&h}, GruBackward{Saved{h_prev}, Saved{x}, Saved{s}});
    }
    return h;
}

// ---------------------------------------------------------------- stacked networks

struct State {
    Array h;
    Array c;  // no array but for LSTM
};

// Weights of a layer and direction, those of all gates stacked.
struct Weights {
    Array wx;
    Array wh;
    Array bx;
    Array bh;
};

// A stacked network: what is common to the kinds of cells.
struct Network {
    const char* name;
    std::vector<size_t> gate_order;  // of the arrays in ws and bs
    int64_t directions;

    void Check(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws, const ArrayLists& bs,
               const std::vector<Array>& xs) const {
        auto count = static_cast<size_t>(n_layers * directions);
        if (n_layers < 1) throw ChainerxError{name, ": n_layers must be positive, was ", n_layers};
        if (xs.empty()) throw ChainerxError{name, ": xs must have at least one time step"};
        if (ws.size() != count || bs.size() != count) {
            throw DimensionError{name,      ": ws and bs must have ",
                                 count,     " lists, one for each layer and direction, got ",
                                 ws.size(), " and ",
                                 bs.size()};
        }
        if (hx.ndim() != 3 || hx.shape()[0] != n_layers * directions) {
            throw DimensionError{name, ": hx has shape ", hx.shape(), ", expected (", count, ", B, U)"};
        }
        if (!IsFloat(hx.dtype())) throw DtypeError{name, ": hx must be of a floating point dtype, not ", hx.dtype()};
        if (cx && cx.shape() != hx.shape())
            throw DimensionError{name, ": cx has shape ", cx.shape(), " but hx ", hx.shape()};
        auto check_dtype = [&](const char* what, const Array& a) {
            CheckDevices(hx, a);
            if (a.dtype() != hx.dtype())
                throw DtypeError{name, ": ", what, " has dtype ", a.dtype(), " but hx ", hx.dtype()};
        };
        if (cx) check_dtype("cx", cx);
        int64_t batch = hx.shape()[1];
        int64_t units = hx.shape()[2];
        if (xs[0].ndim() != 2)
            throw DimensionError{name, ": an element of xs has shape ", xs[0].shape(), ", expected (B_t, I)"};
        for (const Array& x : xs) {
            check_dtype("xs", x);
            if (x.ndim() != 2 || x.shape()[0] > batch || x.shape()[1] != xs[0].shape()[1]) {
                throw DimensionError{name,
                                     ": an element of xs has shape ",
                                     x.shape(),
                                     ", expected (B_t, ",
                                     xs[0].shape()[1],
                                     ") with B_t not above ",
                                     batch};
            }
            batch = x.shape()[0];
        }
        size_t gates = gate_order.size();
        for (size_t cell = 0; cell < count; ++cell) {
            if (ws[cell].size() != 2 * gates || bs[cell].size() != 2 * gates) {
                throw DimensionError{name,
                                     ": ws and bs of a layer must have ",
                                     2 * gates,
                                     " arrays, got ",
                                     ws[cell].size(),
                                     " and ",
                                     bs[cell].size()};
            }
            int64_t width = cell < static_cast<size_t>(directions) ? xs[0].shape()[1] : units * directions;
            for (size_t j = 0; j < 2 * gates; ++j) {
                check_dtype("ws", ws[cell][j]);
                check_dtype("bs", bs[cell][j]);
                Shape expected{units, j < gates ? width : units};
                if (ws[cell][j].shape() != expected) {
                    throw DimensionError{name,          ": ws[", cell, "][", j, "] has shape ", ws[cell][j].shape(),
                                         ", expected ", expected};
                }
                if (bs[cell][j].shape() != Shape{units}) {
                    throw DimensionError{name,          ": bs[",     cell, "][", j, "] has shape ", bs[cell][j].shape(),
                                         ", expected ", Shape{units}};
                }
            }
        }
    }

    Array Join(const std::vector<Array>& arrays, size_t first) const {
        if (gate_order.size() == 1) return arrays[first];
        std::vector<Array> parts;
        for (size_t k : gate_order) parts.push_back(arrays[first + k]);
        return Concatenate(parts, 0);
    }

    // `step(weights, z, state)` returns the next state, where z is the input's part of the gates.
    template <class Step>
    std::tuple<Array, Array, std::vector<Array>> Run(int64_t n_layers, const Array& hx, const Array& cx,
                                                     const ArrayLists& ws, const ArrayLists& bs,
                                                     const std::vector<Array>& xs, bool joins_biases,
                                                     Step&& step) const {
        Check(n_layers, hx, cx, ws, bs, xs);
        Shape shape{hx.shape()[1], hx.shape()[2]};
        std::vector<Array> h_first = Split(hx, hx.shape()[0], 0);
        std::vector<Array> c_first;
        if (cx) c_first = Split(cx, cx.shape()[0], 0);
        std::vector<int64_t> stops;
        int64_t total = 0;
        for (const Array& x : xs) stops.push_back(total += x.shape()[0]);
        stops.pop_back();
        Array x = xs.size() == 1 ? xs[0] : Concatenate(xs, 0);
        std::vector<Array> h_last;
        std::vector<Array> c_last;
        for (int64_t layer = 0; layer < n_layers; ++layer) {
            std::vector<Array> outputs;
            for (int64_t d = 0; d < directions; ++d) {
                int64_t cell = layer * directions + d;
                size_t gates = gate_order.size();
                Weights w{Join(ws[cell], 0), Join(ws[cell], gates), Join(bs[cell], 0), Join(bs[cell], gates)};
                if (joins_biases) w.bx = w.bx + w.bh;
                std::vector<Array> z = Split(Linear(x, w.wx, w.bx), stops, 0);
                State state{Reshape(h_first[cell], shape), cx ? Reshape(c_first[cell], shape) : Array{}};
                std::vector<Array> y(z.size());
                for (size_t i = 0; i < z.size(); ++i) {
                    size_t t = d == 0 ? i : z.size() - 1 - i;
                    y[t] = Advance(w, z[t], &state, step);
                }
                h_last.push_back(state.h);
                if (cx) c_last.push_back(state.c);
                outputs.push_back(y.size() == 1 ? y[0] : Concatenate(y, 0));
            }
            x = directions == 1 ? outputs[0] : Concatenate(outputs, 1);
        }
        return {Stack(h_last, 0), cx ? Stack(c_last, 0) : Array{}, Split(x, stops, 0)};
    }

    // One step of the sequences that have it; the states of the others stay. Returns the output.
    template <class Step>
    static Array Advance(const Weights& w, const Array& z, State* state, Step&& step) {
        int64_t n = z.shape()[0];
        if (n == state->h.shape()[0]) {
            *state = step(w, z, *state);
            return state->h;
        }
        std::vector<int64_t> at{n};
        std::vector<Array> h = Split(state->h, at, 0);
        std::vector<Array> c;
        if (state->c) c = Split(state->c, at, 0);
        State next = step(w, z, State{h[0], c.empty() ? Array{} : c[0]});
        state->h = Concatenate({next.h, h[1]}, 0);
        if (!c.empty()) state->c = Concatenate({next.c, c[1]}, 0);
        return next.h;
    }
};

LstmStatesAndOutputs RunLstm(const char* name, int64_t directions, int64_t n_layers, const Array& hx, const Array& cx,
                             const ArrayLists& ws, const ArrayLists& bs, const std::vector<Array>& xs) {
    // From i, f, a, o to a, i, f, o.
    return Network{name, {2, 0, 1, 3}, directions}.Run(
            n_layers, hx, cx, ws, bs, xs, true, [](const Weights& w, const Array& z, const State& s) {
                auto [c, h] = LstmCell(s.c, z + Linear(s.h, w.wh), Gates::kBlocks);
                return State{h, c};
            });
}

StatesAndOutputs RunGru(const char* name, int64_t directions, int64_t n_layers, const Array& hx, const ArrayLists& ws,
                        const ArrayLists& bs, const std::vector<Array>& xs) {
    auto [hy, cy, ys] = Network{name, {0, 1, 2}, directions}.Run(
            n_layers, hx, Array{}, ws, bs, xs, false, [](const Weights& w, const Array& z, const State& s) {
                return State{GruCell(s.h, z, Linear(s.h, w.wh, w.bh)), Array{}};
            });
    return {hy, ys};
}

StatesAndOutputs RunRnn(const char* name, int64_t directions, int64_t n_layers, const Array& hx, const ArrayLists& ws,
                        const ArrayLists& bs, const std::vector<Array>& xs, const std::string& activation) {
    if (activation != "tanh" && activation != "relu") {
        throw ChainerxError{name, ": activation must be 'tanh' or 'relu', not '", activation, "'"};
    }
    bool is_tanh = activation == "tanh";
    auto [hy, cy, ys] = Network{name, {0}, directions}.Run(n_layers, hx, Array{}, ws, bs, xs, true,
                                                           [is_tanh](const Weights& w, const Array& z, const State& s) {
                                                               Array v = z + Linear(s.h, w.wh);
                                                               return State{is_tanh ? Tanh(v) : Relu(v), Array{}};
                                                           });
    return {hy, ys};
}

}  // namespace

LstmStatesAndOutputs NStepLstm(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
                               const ArrayLists& bs, const std::vector<Array>& xs) {
    return RunLstm("n_step_lstm", 1, n_layers, hx, cx, ws, bs, xs);
}
LstmStatesAndOutputs NStepBiLstm(int64_t n_layers, const Array& hx, const Array& cx, const ArrayLists& ws,
                                 const ArrayLists& bs, const std::vector<Array>& xs) {
    return RunLstm("n_step_bilstm", 2, n_layers, hx, cx, ws, bs, xs);
}
StatesAndOutputs NStepGru(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                          const std::vector<Array>& xs) {
    return RunGru("n_step_gru", 1, n_layers, hx, ws, bs, xs);
}
StatesAndOutputs NStepBiGru(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                            const std::vector<Array>& xs) {
    return RunGru("n_step_bigru", 2, n_layers, hx, ws, bs, xs);
}
StatesAndOutputs NStepRnn(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                          const std::vector<Array>& xs, const std::string& activation) {
    return RunRnn("n_step_rnn", 1, n_layers, hx, ws, bs, xs, activation);
}
StatesAndOutputs NStepBiRnn(int64_t n_layers, const Array& hx, const ArrayLists& ws, const ArrayLists& bs,
                            const std::vector<Array>& xs, const std::string& activation) {
    return RunRnn("n_step_birnn", 2, n_layers, hx, ws, bs, xs, activation);
}

}  // namespace chainerx
