// Quantization to integers of eight or more bits.

#include "chainerx/ops/quantization.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "chainerx/ops/packed_integers.h"
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

bool IsByte(Dtype dtype) { return dtype == Dtype::kInt8 || dtype == Dtype::kUInt8; }

bool IsOneFloat(const Array& scale) { return scale.dtype() == Dtype::kFloat32 && scale.GetTotalSize() == 1; }

Array ZeroPoint(const Inputs& in, int i, Dtype dtype) {
    return in.Has(i) ? in[i] : Zeros(Shape{}, dtype, in[0].device());
}

Kernel QuantizeLinear(const Node& node) {
    int64_t axis = node.Int("axis");
    int64_t block = node.Int("block_size");
    Dtype dtype = node.OptionalType("output_dtype").value_or(Dtype::kUInt8);
    std::optional<Dtype> wide = node.OptionalType("precision");
    return [=](const Inputs& in) {
        Dtype out = in.Has(2) ? in[2].dtype() : dtype;
        if (IsByte(out) && !wide && block == 0 && in[0].dtype() == Dtype::kFloat32 && IsOneFloat(in[1]) &&
            (!in.Has(2) || in[2].GetTotalSize() == 1)) {
            return QuantizeBytes(in[0], in[1], ZeroPoint(in, 2, out));
        }
        Array scale = in[1];
        if (wide) scale = Cast(scale, *wide);
        Array x = Cast(in[0], IsFloat(in[0].dtype()) && !wide ? in[0].dtype() : scale.dtype());
        Array zero = in.Has(2) ? Aligned(in[2], x, axis, block) : Array{};
        return Quantize(x / Aligned(scale, x, axis, block), zero, out);
    };
}

Kernel DequantizeLinear(const Node& node) {
    int64_t axis = node.Int("axis");
    int64_t block = node.Int("block_size");
    std::optional<Dtype> dtype = node.OptionalType("output_dtype");
    return [=](const Inputs& in) {
        if (IsByte(in[0].dtype()) && block == 0 && dtype.value_or(Dtype::kFloat32) == Dtype::kFloat32 &&
            IsOneFloat(in[1]) && (!in.Has(2) || in[2].GetTotalSize() == 1)) {
            return DequantizeBytes(in[0], in[1], ZeroPoint(in, 2, in[0].dtype()));
        }
        Array y = Cast(in[0], Dtype::kFloat32);
        if (in.Has(2)) y = y - Cast(Aligned(in[2], y, axis, block), Dtype::kFloat32);
        return Cast(y * Cast(Aligned(in[1], y, axis, block), Dtype::kFloat32), dtype.value_or(in[1].dtype()));
    };
}

Kernel DynamicQuantizeLinear(const Node&) {
    return [](const Inputs& in) -> Arrays {
        DynamicallyQuantized out = QuantizeDynamically(in[0]);
        return {out.y, out.scale, out.zero};
    };
}

// Integers less their zero point, in float64, which holds their products exactly.
Array Centered(const Inputs& in, int x_at, int zero_at, int64_t axis) {
    Array x = Cast(in[x_at], Dtype::kFloat64);
    if (!in.Has(zero_at)) return x;
    return x - Cast(Aligned(in[zero_at], x, axis, 0), Dtype::kFloat64);
}

// A product of integers whose right operand may be packed once.
class IntegerProduct {
public:
    // `b`, `b_zero`: the places of that operand and its zero point among the inputs.
    IntegerProduct(const Node& node, int b, int b_zero) : b_{b}, b_zero_{b_zero} {
        Array constant = node.Constant(b);
        Array zero = node.Constant(b_zero);
        if (!constant || constant.ndim() != 2 || (node.HasInput(b_zero) && !zero)) return;
        packed_.emplace(constant, zero ? std::optional{zero} : std::nullopt);
    }
    bool is_packed() const { return packed_.has_value(); }
    const PackedIntegerMatrix& packed() const { return *packed_; }
    // As int32.
    Array operator()(const Inputs& in, int a_zero) const {
        if (packed_) return (*packed_)(in[0], in.Optional(a_zero));
        return IntegerMatmul(in[0], in[b_], in.Optional(a_zero), in.Optional(b_zero_));
    }

private:
    int b_;
    int b_zero_;
    std::optional<PackedIntegerMatrix> packed_;
};

// The planner has joined further inputs to a product with a constant: scales of both operands, and perhaps a bias.
Kernel MatMulInteger(const Node& node) {
    IntegerProduct product{node, 1, 3};
    if (product.is_packed()) {
        node.Consume(1);
        node.Consume(3);
    }
    if (!node.HasInput(5)) return [product](const Inputs& in) { return product(in, 2); };
    IntegerEpilogue epilogue{Array{}, node.Constant(5), node.Constant(6), node.relu};
    node.Consume(5);
    node.Consume(6);
    return [product, epilogue](const Inputs& in) {
        IntegerEpilogue scaled = epilogue;
        scaled.a_scale = in[4];
        return product.packed()(in[0], in.Optional(2), scaled);
    };
}

// Whether the inputs at these places are float32.
bool AreFloat32(const Inputs& in, std::initializer_list<int> places) {
    return std::all_of(places.begin(), places.end(), [&](int i) { return in[i].dtype() == Dtype::kFloat32; });
}

// y scale, with the zero point of input 7.
Array Requantize(const Inputs& in, const Array& y, const Array& scale) {
    if (!IsByte(in[7].dtype()) || in[7].GetTotalSize() != 1) {
        return Quantize(Cast(y, Dtype::kFloat64) * Cast(scale, Dtype::kFloat64), in[7], in[7].dtype());
    }
    Array one = Ones(Shape{}, Dtype::kFloat32, y.device());
    return QuantizeBytes(Cast(y, Dtype::kFloat32) * Cast(scale, Dtype::kFloat32), one, in[7]);
}

Kernel QLinearMatMul(const Node& node) {
    IntegerProduct product{node, 3, 5};
    return [product](const Inputs& in) {
        bool is_narrow = AreFloat32(in, {1, 4, 6});
        Dtype dtype = is_narrow ? Dtype::kFloat32 : Dtype::kFloat64;
        Array a_scale = Cast(in[1], dtype);
        if (a_scale.ndim() == 1 && a_scale.GetTotalSize() > 1) a_scale = ExpandDims(a_scale, 1);
        return Requantize(in, product(in, 2), a_scale * Cast(in[4], dtype) / Cast(in[6], dtype));
    };
}

struct IntegerConvolution {
    explicit IntegerConvolution(const Node& node)
        : attributes{node}, groups{node.Int("group")}, kernel_shape{node.OptionalInts("kernel_shape")} {}

    // As int32, with the weights at a place among the inputs, and the zero points at others.
    Array operator()(const Inputs& in, int w_at, int x_zero, int w_zero) const {
        const Array& x = in[0];
        const Array& w = in[w_at];
        if (w.ndim() != x.ndim() || x.ndim() < 2 || x.ndim() > kMaxWindowDims + 2) {
            throw ModelError{"the shapes are ", x.shape(), " and ", w.shape()};
        }
        CheckKernelShape(kernel_shape, w.shape());
        Windows windows{attributes, x.shape(), Ints{w.shape().begin() + 2, w.shape().end()}};
        if (x.device().backend().FindKernel(kConvIntegersKernel) == nullptr) {
            Array padded = PadSpatial(Centered(in, 0, x_zero, 0), windows.before, windows.behind);
            return Cast(Conv(padded, Centered(in, w_at, w_zero, 0), std::nullopt, PerAxis{ToShape(windows.strides)}, 0,
                             false, groups, PerAxis{ToShape(windows.dilations)}),
                        Dtype::kInt32);
        }
        std::vector<int64_t> row{w.shape()[1]};  // the windows of a row of the output
        std::vector<int64_t> out{x.shape()[0], w.shape()[0]};
        for (size_t i = 0; i < windows.count(); ++i) {
            int64_t room = windows.in[i] + windows.before[i] + windows.behind[i] - windows.spans[i];
            out.push_back(room < 0 ? 0 : room / windows.strides[i] + 1);
            row.push_back(windows.kernel[i]);
            if (i > 0) row.push_back(out.back());
        }
        CheckedShape(out, sizeof(int32_t));
        CheckedShape(row, 1);
        return IntegerConv(x, w, in.Optional(x_zero), in.Optional(w_zero), PerAxis{ToShape(windows.strides)},
                           PerAxis{ToShape(windows.before)}, PerAxis{ToShape(windows.behind)},
                           PerAxis{ToShape(windows.dilations)}, groups);
    }

    WindowAttributes attributes;
    int64_t groups;
    std::optional<Ints> kernel_shape;
};

Kernel ConvInteger(const Node& node) {
    IntegerConvolution convolve{node};
    return [convolve](const Inputs& in) { return convolve(in, 1, 2, 3); };
}

Kernel QLinearConv(const Node& node) {
    IntegerConvolution convolve{node};
    return [convolve](const Inputs& in) {
        Array y = convolve(in, 3, 2, 5);
        Shape channels{-1};
        channels.resize(y.ndim() - 1, 1);
        if (in.Has(8)) y = y + Reshape(in[8], channels);
        bool is_narrow = AreFloat32(in, {1, 4, 6});
        Dtype dtype = is_narrow ? Dtype::kFloat32 : Dtype::kFloat64;
        Array scale = Cast(in[4], dtype);
        scale = scale.GetTotalSize() > 1 ? Reshape(scale, channels) : Reshape(scale, Shape{});
        return Requantize(in, y, Cast(in[1], dtype) * scale / Cast(in[6], dtype));
    };
}

const Operator kOperators[] = {
        {"ConvInteger", ConvInteger},
        {"DequantizeLinear", DequantizeLinear},
        {"DynamicQuantizeLinear", DynamicQuantizeLinear},
        {"MatMulInteger", MatMulInteger},
        {"QLinearConv", QLinearConv},
        {"QLinearMatMul", QLinearMatMul},
        {"QuantizeLinear", QuantizeLinear},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Quantization)

}  // namespace chainerx::onnx
