#include "chainerx_onnx/operators/fused_recurrent.h"

#include <memory>
#include <optional>

#include "chainerx/ops/packed_linear.h"
#include "chainerx/ops/packed_recurrent.h"

namespace chainerx::onnx {
namespace {

// The gates of ONNX in the order of ChainerX's.
const std::vector<int64_t>& OrderOf(RnnKind kind) {
    static const std::vector<int64_t> lstm{3, 0, 2, 1};  // of input, output, forget, cell
    static const std::vector<int64_t> gru{1, 0, 2};      // of update, reset, hidden
    static const std::vector<int64_t> one{0};
    return kind == RnnKind::kLstm ? lstm : kind == RnnKind::kGru ? gru : one;
}

// An array (gates units, ...) in that order.
Array InOrder(const Array& a, RnnKind kind) {
    auto gates = static_cast<int64_t>(OrderOf(kind).size());
    Array rows = Reshape(a, Shape{gates, a.GetTotalSize() / gates});
    return Reshape(Take(rows, OrderOf(kind), 0), a.shape());
}

bool ResetsFirst(const Node& node, RnnKind kind) { return kind == RnnKind::kGru && !node.Flag("linear_before_reset"); }

int CountStates(RnnKind kind) { return kind == RnnKind::kLstm ? 2 : 1; }

class FusedRecurrent {
public:
    FusedRecurrent(const Node& node, RnnKind kind, const std::vector<bool>& reversed)
        : kind_{kind}, layout_{node.Flag("layout")}, resets_first_{ResetsFirst(node, kind)} {
        Array w = node.Constant(1);
        Array r = node.Constant(2);
        Array b = node.Constant(3);
        inner_ = w.shape()[2];
        units_ = r.shape()[2];
        dtype_ = w.dtype();
        auto gates = static_cast<int64_t>(OrderOf(kind).size());
        for (size_t i = 0; i < reversed.size(); ++i) {
            auto d = static_cast<int64_t>(i);
            std::optional<Array> bias;
            Array recurrent_bias = Zeros(Shape{gates * units_}, dtype_, w.device());
            if (b) {
                Arrays biases = SplitAxis(At(b, {d}), 0, {gates * units_, gates * units_});
                recurrent_bias = InOrder(biases[1], kind);
                // The reset gate multiplies only one of a GRU's.
                bool joins = kind != RnnKind::kGru || resets_first_;
                bias = InOrder(joins ? biases[0] + biases[1] : biases[0], kind);
            }
            PackedLinear project{AsContiguous(Transpose(InOrder(At(w, {d}), kind))), bias};
            Array recurrent = InOrder(At(r, {d}), kind);
            std::shared_ptr<const PackedRecurrent> packed;
            if (node.device().backend().FindKernel(kPackRecurrentKernel) != nullptr) {
                packed = kPackRecurrentKernel(node.device(), recurrent, resets_first_);
            }
            directions_.push_back({reversed[i], project, packed, packed ? Array{} : recurrent, recurrent_bias});
        }
    }

    Arrays operator()(const Inputs& in) const {
        Array x = layout_ ? Transpose(in[0], Axes{1, 0, 2}) : in[0];
        if (x.ndim() != 3 || x.shape()[2] != inner_ || x.dtype() != dtype_) {
            throw ModelError{"its input has the shape ",   x.shape(), " and dtype ",  x.dtype(),
                             ", and the weights are for ", inner_,    " numbers of ", dtype_};
        }
        auto count = static_cast<int64_t>(directions_.size());
        Shape state{count, x.shape()[1], units_};
        std::vector<Arrays> outputs(1 + CountStates(kind_));
        for (int64_t d = 0; d < count; ++d) {
            Arrays states = InitialStates(in, CountStates(kind_), layout_, d, state, dtype_);
            Run(directions_[d], x, states, &outputs);
        }
        return StackDirections(outputs, layout_);
    }

private:
    struct Direction {
        bool is_reversed;
        PackedLinear project;
        std::shared_ptr<const PackedRecurrent> packed;  // the recurrent matrix; or null
        Array recurrent;                                // (gates units, units), if it is not packed
        Array bias;                                     // of the recurrent part, GRU only
    };

    // Adds what one direction gives to outputs: (length, batch, units), and states (batch, units).
    void Run(const Direction& direction, const Array& x, const Arrays& states, std::vector<Arrays>* outputs) const {
        int64_t length = x.shape()[0];
        int64_t batch = x.shape()[1];
        Device& device = x.device();
        auto empty = [&](int64_t rows, int64_t columns) { return Empty(Shape{rows, columns}, dtype_, device); };
        RnnLayer layer{};
        layer.kind = kind_;
        layer.lengths.assign(length, batch);
        layer.reverse = direction.is_reversed;
        layer.wh = direction.recurrent;
        layer.h0 = states[0];
        layer.x_gates = direction.project(Reshape(x, Shape{length * batch, inner_}));
        layer.y = empty(length * batch, units_);
        Array c;
        if (kind_ == RnnKind::kGru && !resets_first_) {
            layer.bh = direction.bias;
            layer.h_gates = empty(length * batch, 3 * units_);
        } else if (kind_ == RnnKind::kLstm) {
            layer.c0 = states[1];
            layer.cells = empty(length * batch, units_);
            c = empty(batch, units_);
        }
        Array h = empty(batch, units_);
        if (direction.packed) {
            direction.packed->Run(layer, h, c);
        } else {
            kRnnLayerKernel(device, layer, h, c);
        }
        (*outputs)[0].push_back(Reshape(layer.y, Shape{length, batch, units_}));
        (*outputs)[1].push_back(h);
        if (c) (*outputs)[2].push_back(c);
    }

    RnnKind kind_;
    bool layout_;
    bool resets_first_;  // a GRU whose reset gate comes before the product
    int64_t inner_;
    int64_t units_;
    Dtype dtype_;
    std::vector<Direction> directions_;
};

}  // namespace

Arrays InitialStates(const Inputs& in, int count, bool layout, int64_t direction, const Shape& shape, Dtype dtype) {
    Arrays states;
    for (int i = 5; i < 5 + count; ++i) {
        if (!in.Has(i)) {
            states.push_back(Zeros(Shape{shape[1], shape[2]}, dtype, in[0].device()));
            continue;
        }
        Array given = layout ? Transpose(in[i], Axes{1, 0, 2}) : in[i];
        if (given.shape() != shape || given.dtype() != dtype) {
            throw ModelError{"a state has the shape ", given.shape(), " and dtype ", given.dtype()};
        }
        states.push_back(AsContiguous(At(given, {direction})));
    }
    return states;
}

Arrays StackDirections(const std::vector<Arrays>& parts, bool layout) {
    Arrays out;
    for (size_t i = 0; i < parts.size(); ++i) {
        Array y = Stack(parts[i], i == 0 ? 1 : 0);
        out.push_back(layout ? Transpose(y, i == 0 ? Axes{2, 0, 1, 3} : Axes{1, 0, 2}) : y);
    }
    return out;
}

Kernel FuseRecurrent(const Node& node, RnnKind kind, const std::vector<bool>& reversed) {
    Array w = node.Constant(1);
    Array r = node.Constant(2);
    Array b = node.Constant(3);
    const Backend& backend = node.device().backend();
    bool can_pack = backend.FindKernel(kPackRecurrentKernel) != nullptr;
    bool is_usual = !node.HasInput(4) && !(kind == RnnKind::kLstm && (node.Flag("input_forget") || node.HasInput(7))) &&
                    !(ResetsFirst(node, kind) && !can_pack);
    if (!is_usual || !w || !r || (node.HasInput(3) && !b)) return {};
    bool is_supported = backend.FindKernel(kRnnLayerKernel) != nullptr &&
                        (w.dtype() == Dtype::kFloat32 || w.dtype() == Dtype::kFloat64);
    if (!is_supported || w.ndim() != 3 || r.ndim() != 3 || r.dtype() != w.dtype() || (b && b.dtype() != w.dtype())) {
        return {};
    }
    int64_t units = r.shape()[2];
    auto directions = static_cast<int64_t>(reversed.size());
    int64_t rows = static_cast<int64_t>(OrderOf(kind).size()) * units;
    bool fits = w.shape() == Shape{directions, rows, w.shape()[2]} && r.shape() == Shape{directions, rows, units} &&
                (!b || b.shape() == Shape{directions, 2 * rows}) &&
                node.OptionalInt("hidden_size").value_or(units) == units;
    if (!fits || w.GetTotalSize() == 0) return {};
    FusedRecurrent layer{node, kind, reversed};
    for (int i = 1; i <= 3; ++i) node.Consume(i);
    return layer;
}

}  // namespace chainerx::onnx
