// Quantization to integers of eight or more bits.

#include <limits>

#include "chainerx_onnx/operators/windows.h"

namespace chainerx::onnx {
namespace {

// A scale or zero point in a shape that is broadcast with x.
Array Aligned(const Array& parameter, const Array& x, int64_t axis, int64_t block) {
    if (parameter.GetTotalSize() == 1) return Reshape(parameter, Shape{});
    int8_t at = CheckAxis(axis, x.ndim());
    if (block > 0) {
        if (block > (1 << 30)) throw ModelError{"its block_size is ", block};
        return SliceAxis(Repeat(parameter, {block}, at), at, 0, x.shape()[at]);
    }
    Shape shape{parameter.GetTotalSize()};
    shape.resize(x.ndim() - at, 1);
    return Reshape(parameter, shape);
}

// y + zero_point rounded half to even, within the limits of the dtype.
Array Quantize(const Array& y, const Array& zero_point, Dtype dtype) {
    return VisitDtype(dtype, [&](auto tag) -> Array {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 4) {
            Array wide = Rint(Cast(y, Dtype::kFloat64));
            if (zero_point) wide = wide + Cast(zero_point, Dtype::kFloat64);
            auto least = static_cast<double>(std::numeric_limits<T>::min());
            auto most = static_cast<double>(std::numeric_limits<T>::max());
            return Cast(Minimum(Maximum(wide, Scalar{least}), Scalar{most}), dtype);
        } else {
            throw ModelError{"quantization to ", dtype, " is not supported"};
        }
    });
}

Kernel QuantizeLinear(const Node& node) {
    node.Ignore({"saturate"});
    int64_t axis = node.Int("axis", 1);
    int64_t block = node.Int("block_size", 0);
    int64_t type = node.Int("output_dtype", 0);
    Dtype dtype = type != 0 ? DtypeOf(static_cast<int32_t>(type)) : Dtype::kUInt8;
    int64_t precision = node.Int("precision", 0);
    std::optional<Dtype> wide;
    if (precision != 0) wide = DtypeOf(static_cast<int32_t>(precision));
    return [=](const Inputs& in) {
        Array scale = in[1];
        if (wide) scale = Cast(scale, *wide);
        Array x = Cast(in[0], IsFloat(in[0].dtype()) && !wide ? in[0].dtype() : scale.dtype());
        Array zero = in.Has(2) ? Aligned(in[2], x, axis, block) : Array{};
        return Quantize(x / Aligned(scale, x, axis, block), zero, zero ? zero.dtype() : dtype);
    };
}

Kernel DequantizeLinear(const Node& node) {
    int64_t axis = node.Int("axis", 1);
    int64_t block = node.Int("block_size", 0);
    int64_t type = node.Int("output_dtype", 0);
    std::optional<Dtype> dtype;
    if (type != 0) dtype = DtypeOf(static_cast<int32_t>(type));
    return [=](const Inputs& in) {
        Array y = Cast(in[0], Dtype::kFloat32);
        if (in.Has(2)) y = y - Cast(Aligned(in[2], y, axis, block), Dtype::kFloat32);
        return Cast(y * Cast(Aligned(in[1], y, axis, block), Dtype::kFloat32), dtype.value_or(in[1].dtype()));
    };
}

Kernel DynamicQuantizeLinear(const Node&) {
    return [](const Inputs& in) -> Arrays {
        const Array& x = in[0];
        Array most = Maximum(AMax(x), Scalar{0});
        Array least = Minimum(AMin(x), Scalar{0});
        Array scale = (most - least) / Scalar{255.0};
        scale = Where(Equal(scale, Scalar{0}), Scalar{1}, scale);
        Array zero = Quantize(Negative(least) / scale, Array{}, Dtype::kUInt8);
        return {Quantize(x / scale, zero, Dtype::kUInt8), scale, zero};
    };
}

// Integers less their zero point, in float64, which holds their products exactly.
Array Centered(const Inputs& in, int x_at, int zero_at, int64_t axis) {
    Array x = Cast(in[x_at], Dtype::kFloat64);
    if (!in.Has(zero_at)) return x;
    return x - Cast(Aligned(in[zero_at], x, axis, 0), Dtype::kFloat64);
}

Kernel MatMulInteger(const Node&) {
    return [](const Inputs& in) { return Cast(Matmul(Centered(in, 0, 2, -2), Centered(in, 1, 3, -1)), Dtype::kInt32); };
}

Kernel QLinearMatMul(const Node&) {
    return [](const Inputs& in) {
        Array y = Matmul(Centered(in, 0, 2, -2), Centered(in, 3, 5, -1));
        Array a_scale = Cast(in[1], Dtype::kFloat64);
        if (a_scale.ndim() == 1 && a_scale.GetTotalSize() > 1) a_scale = ExpandDims(a_scale, 1);
        y = y * (a_scale * Cast(in[4], Dtype::kFloat64)) / Cast(in[6], Dtype::kFloat64);
        return Quantize(y, in[7], in[7].dtype());
    };
}

struct IntegerConvolution {
    explicit IntegerConvolution(const Node& node) : attributes{node}, groups{node.Int("group", 1)} {
        node.Ignore({"kernel_shape"});
    }
    Array operator()(const Array& x, const Array& w) const {
        if (w.ndim() != x.ndim() || x.ndim() < 2) throw ModelError{"the shapes are ", x.shape(), " and ", w.shape()};
        Windows windows{attributes, x.shape(), Ints{w.shape().begin() + 2, w.shape().end()}};
        return Conv(PadSpatial(x, windows.before, windows.behind), w, std::nullopt, PerAxis{ToShape(windows.strides)},
                    0, false, groups, PerAxis{ToShape(windows.dilations)});
    }
    WindowAttributes attributes;
    int64_t groups;
};

Kernel ConvInteger(const Node& node) {
    IntegerConvolution convolve{node};
    return [convolve](const Inputs& in) {
        return Cast(convolve(Centered(in, 0, 2, 0), Centered(in, 1, 3, 0)), Dtype::kInt32);
    };
}

Kernel QLinearConv(const Node& node) {
    IntegerConvolution convolve{node};
    return [convolve](const Inputs& in) {
        Array y = convolve(Centered(in, 0, 2, 0), Centered(in, 3, 5, 0));
        Shape channels{-1};
        channels.resize(y.ndim() - 1, 1);
        if (in.Has(8)) y = y + Cast(Reshape(in[8], channels), Dtype::kFloat64);
        Array scale = Cast(in[4], Dtype::kFloat64);
        scale = scale.GetTotalSize() > 1 ? Reshape(scale, channels) : Reshape(scale, Shape{});
        y = y * Cast(in[1], Dtype::kFloat64) * scale / Cast(in[6], Dtype::kFloat64);
        return Quantize(y, in[7], in[7].dtype());
    };
}

const Operator kOperators[] = {
        {"ConvInteger", 2, 4, ConvInteger},
        {"DequantizeLinear", 2, 3, DequantizeLinear},
        {"DynamicQuantizeLinear", 1, 1, DynamicQuantizeLinear},
        {"MatMulInteger", 2, 4, MatMulInteger},
        {"QLinearConv", 8, 9, QLinearConv},
        {"QLinearMatMul", 8, 8, QLinearMatMul},
        {"QuantizeLinear", 2, 3, QuantizeLinear},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Quantization)

}  // namespace chainerx::onnx
