// Convolutions of 8-bit integers.

#include <optional>

#include "chainerx/ops/integer_convolution.h"
#include "chainerx_onnx/operators/quantized.h"
#include "chainerx_onnx/operators/windows.h"

namespace chainerx::onnx {
namespace {

// Integers less their zero point, in float64, which holds their products exactly.
Array Centered(const Inputs& in, int x_at, int zero_at) {
    Array x = Cast(in[x_at], Dtype::kFloat64);
    if (!in.Has(zero_at)) return x;
    return x - Cast(Aligned(in[zero_at], x, 0, 0), Dtype::kFloat64);
}

class ConvolutionNode {
public:
    // `w_place`, `w_zero_place`: the places of the weights and their zero point among the inputs; that of x is input 2.
    ConvolutionNode(const Node& node, int w_place, int w_zero_place)
        : w_place_{w_place}, w_zero_place_{w_zero_place}, attributes_{node}, groups_{node.Int("group")} {
        has_kernel_ = node.device().backend().FindKernel(kPackIntegerFiltersKernel) != nullptr;
        Array w = node.Constant(w_place);
        Array zero = node.Constant(w_zero_place);
        if (!has_kernel_ || !w || w.ndim() < 2 || (node.HasInput(w_zero_place) && !zero)) return;
        packed_ = Packed(w, zero ? std::optional{zero} : std::nullopt);
        w_shape_ = w.shape();
    }

    bool is_packed() const { return packed_.has_value(); }
    const Shape& w_shape() const { return w_shape_; }  // if packed

    // As int32, or what an epilogue gives of packed weights.
    Array operator()(const Inputs& in, const IntegerConvEpilogue* epilogue = nullptr) const {
        const Array& x = in[0];
        const Shape& w = packed_ ? w_shape_ : in[w_place_].shape();
        if (x.ndim() > kMaxWindowDims + 2) throw ModelError{"the shapes are ", x.shape(), " and ", w};
        Windows windows = Windows::OfKernel(attributes_, x.shape(), w);
        if (!has_kernel_) {
            Array padded = PadSpatial(Centered(in, 0, 2), windows.before, windows.behind);
            return Cast(Conv(padded, Centered(in, w_place_, w_zero_place_), std::nullopt, Sizes(windows.strides), 0,
                             false, groups_, Sizes(windows.dilations)),
                        Dtype::kInt32);
        }
        CheckMemory(x.shape(), w, windows);
        auto run = [&](const IntegerConvolution& convolve) {
            return convolve(x, in.Optional(2), Sizes(windows.before), Sizes(windows.behind), epilogue);
        };
        return packed_ ? run(*packed_) : run(Packed(in[w_place_], in.Optional(w_zero_place_)));
    }

private:
    IntegerConvolution Packed(const Array& w, const std::optional<Array>& zero) const {
        Windows windows = Windows::OfKernel(attributes_, w.shape());
        return {w, zero, Sizes(windows.strides), Sizes(windows.dilations), groups_};
    }

    // Of the output, and of the windows of a row of it.
    static void CheckMemory(const Shape& x, const Shape& w, const Windows& windows) {
        Ints row{w[1]};
        Ints out{x[0], w[0]};
        Ints counts = windows.Counts();
        for (size_t i = 0; i < windows.count(); ++i) {
            out.push_back(counts[i]);
            row.push_back(windows.kernel[i]);
            if (i > 0) row.push_back(counts[i]);
        }
        CheckedShape(out, sizeof(int32_t));
        CheckedShape(row, 1);
    }

    int w_place_;
    int w_zero_place_;
    WindowAttributes attributes_;
    int64_t groups_;
    bool has_kernel_;
    std::optional<IntegerConvolution> packed_;
    Shape w_shape_;
};

// One number for each channel of the output.
Array ForChannels(const Array& a, const ConvolutionNode& convolve) {
    return AsContiguous(BroadcastTo(a.GetTotalSize() == 1 ? Reshape(a, Shape{}) : a, Shape{convolve.w_shape()[0]}));
}

// The planner has joined further inputs to the convolution of a constant, all of them constants: scales of both
// operands, and perhaps a bias, the scale and zero point of the result, and its limits before.
Kernel ConvInteger(const Node& node) {
    ConvolutionNode convolve{node, 1, 3};
    if (convolve.is_packed()) {
        node.Consume(1);
        node.Consume(3);
    }
    if (!node.HasInput(5)) return [convolve](const Inputs& in) { return convolve(in); };
    IntegerConvEpilogue epilogue;
    epilogue.scale = ForChannels(Reshape(node.Constant(4), Shape{}) * node.Constant(5), convolve);
    epilogue.bias = node.Constant(6);
    epilogue.y_scale = node.Constant(7);
    epilogue.y_zero = node.Constant(8);
    if (node.HasInput(9)) epilogue.least = static_cast<float>(static_cast<double>(AsScalar(node.Constant(9))));
    if (node.HasInput(10)) epilogue.most = static_cast<float>(static_cast<double>(AsScalar(node.Constant(10))));
    for (int i = 4; i < node.input_count(); ++i) node.Consume(i);
    return [convolve, epilogue](const Inputs& in) { return convolve(in, &epilogue); };
}

// The epilogue of scales, zero point and bias that are all known and of the types that it takes.
std::optional<IntegerConvEpilogue> EpilogueOf(const Node& node, const ConvolutionNode& convolve) {
    Array scales[] = {node.Constant(1), node.Constant(4), node.Constant(6)};
    Array zero = node.Constant(7);
    Array bias = node.Constant(8);
    if (!convolve.is_packed() || !zero || !IsByte(zero.dtype()) || zero.GetTotalSize() != 1) return std::nullopt;
    int64_t channels = convolve.w_shape()[0];
    for (int i = 0; i < 3; ++i) {
        if (!scales[i] || scales[i].dtype() != Dtype::kFloat32) return std::nullopt;
        if (scales[i].GetTotalSize() != 1 && (i != 1 || scales[i].shape() != Shape{channels})) return std::nullopt;
    }
    if (node.HasInput(8) && (!bias || bias.dtype() != Dtype::kInt32 || bias.shape() != Shape{channels})) {
        return std::nullopt;
    }
    IntegerConvEpilogue epilogue;
    Array scale = Reshape(scales[0], Shape{}) * scales[1] / Reshape(scales[2], Shape{});
    epilogue.scale = ForChannels(scale, convolve);
    epilogue.offset = bias;
    epilogue.y_scale = Ones(Shape{}, Dtype::kFloat32, node.device());
    epilogue.y_zero = zero;
    return epilogue;
}

Kernel QLinearConv(const Node& node) {
    ConvolutionNode convolve{node, 3, 5};
    if (std::optional<IntegerConvEpilogue> epilogue = EpilogueOf(node, convolve)) {
        for (int i = 3; i < node.input_count(); ++i) node.Consume(i);
        return [convolve, epilogue](const Inputs& in) { return convolve(in, &*epilogue); };
    }
    return [convolve](const Inputs& in) {
        Array y = convolve(in);
        int behind = y.ndim() - 2;
        if (in.Has(8)) y = y + AsAxis(in[8], behind);
        Dtype dtype = ScalesDtype(in);
        Array scale = Cast(in[4], dtype);
        scale = scale.GetTotalSize() > 1 ? AsAxis(scale, behind) : Reshape(scale, Shape{});
        return Requantize(in, y, Cast(in[1], dtype) * scale / Cast(in[6], dtype));
    };
}

}  // namespace

const OperatorTable kIntegerConvolutionsOperators = {
        {"ConvInteger", ConvInteger},
        {"QLinearConv", QLinearConv},
};

}  // namespace chainerx::onnx
