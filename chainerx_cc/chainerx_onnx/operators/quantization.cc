// Quantization to integers of eight or more bits.

#include "chainerx/ops/quantization.h"

#include <algorithm>
#include <limits>

#include "chainerx/ops/packed_integers.h"
#include "chainerx_onnx/operators/quantized.h"

namespace chainerx::onnx {

Array Aligned(const Array& parameter, const Array& x, int64_t axis, int64_t block) {
    if (parameter.GetTotalSize() == 1) return Reshape(parameter, Shape{});
    int8_t at = CheckAxis(axis, x.ndim());
    if (block > 0) {
        if (block > (1 << 30)) throw ModelError{"its block_size is ", block};
        return SliceAxis(Repeat(parameter, {block}, at), at, 0, x.shape()[at]);
    }
    return AsAxis(parameter, x.ndim() - 1 - at);
}

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

bool AreFloat32(const Inputs& in, std::initializer_list<int> places) {
    return std::all_of(places.begin(), places.end(), [&](int i) { return in[i].dtype() == Dtype::kFloat32; });
}

Array Requantize(const Inputs& in, const Array& y, const Array& scale) {
    if (!IsByte(in[7].dtype()) || in[7].GetTotalSize() != 1) {
        return Quantize(Cast(y, Dtype::kFloat64) * Cast(scale, Dtype::kFloat64), in[7], in[7].dtype());
    }
    Array one = Ones(Shape{}, Dtype::kFloat32, y.device());
    return QuantizeBytes(Cast(y, Dtype::kFloat32) * Cast(scale, Dtype::kFloat32), one, in[7]);
}

namespace {

bool IsOneFloat(const Array& scale) { return scale.dtype() == Dtype::kFloat32 && scale.GetTotalSize() == 1; }

Array QuantizeLinear(const Array& input, const Array& scale, const Array& zero, int64_t axis, int64_t block,
                     const std::optional<Dtype>& dtype, const std::optional<Dtype>& precision) {
    Dtype out = zero ? zero.dtype() : dtype.value_or(Dtype::kUInt8);
    if (IsByte(out) && !precision && block == 0 && input.dtype() == Dtype::kFloat32 && IsOneFloat(scale) &&
        (!zero || zero.GetTotalSize() == 1)) {
        return QuantizeBytes(input, scale, zero ? zero : Zeros(Shape{}, out, input.device()));
    }
    Dtype wide = precision.value_or(IsFloat(input.dtype()) ? input.dtype() : scale.dtype());
    Array x = Cast(input, wide);
    Array by = precision ? Cast(scale, wide) : scale;
    return Quantize(x / Aligned(by, x, axis, block), zero ? Aligned(zero, x, axis, block) : zero, out);
}

Array DequantizeLinear(const Array& x, const Array& scale, const Array& zero, int64_t axis, int64_t block,
                       const std::optional<Dtype>& dtype) {
    if (IsByte(x.dtype()) && block == 0 && dtype.value_or(Dtype::kFloat32) == Dtype::kFloat32 && IsOneFloat(scale) &&
        (!zero || zero.GetTotalSize() == 1)) {
        return DequantizeBytes(x, scale, zero ? zero : Zeros(Shape{}, x.dtype(), x.device()));
    }
    Array y = Cast(x, Dtype::kFloat32);
    if (zero) y = y - Cast(Aligned(zero, y, axis, block), Dtype::kFloat32);
    return Cast(y * Cast(Aligned(scale, y, axis, block), Dtype::kFloat32), dtype.value_or(scale.dtype()));
}

Arrays DynamicQuantizeLinear(const Array& x) {
    DynamicallyQuantized out = QuantizeDynamically(x);
    return {out.y, out.scale, out.zero};
}

// A product of integers whose right operand may be packed once.
class IntegerProduct {
public:
    // `b`, `b_zero`: the places of that operand, which may be transposed, and its zero point among the inputs.
    IntegerProduct(const Node& node, int b, int b_zero, bool is_transposed = false)
        : b_{b}, b_zero_{b_zero}, is_transposed_{is_transposed} {
        Array constant = node.Constant(b);
        Array zero = node.Constant(b_zero);
        if (!constant || constant.ndim() != 2 || (node.HasInput(b_zero) && !zero)) return;
        packed_.emplace(is_transposed ? Transpose(constant) : constant, zero ? std::optional{zero} : std::nullopt);
    }
    bool is_packed() const { return packed_.has_value(); }
    const PackedIntegerMatrix& packed() const { return *packed_; }
    // As int32.
    Array operator()(const Inputs& in, int a_zero) const { return (*this)(in[0], in, a_zero); }
    Array operator()(const Array& a, const Inputs& in, int a_zero) const {
        if (packed_) return (*packed_)(a, in.Optional(a_zero));
        Array b = is_transposed_ ? Transpose(in[b_]) : in[b_];
        return IntegerMatmul(a, b, in.Optional(a_zero), in.Optional(b_zero_));
    }

private:
    int b_;
    int b_zero_;
    bool is_transposed_;
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

// alpha (A B + C), of integers whose scales are alpha a_scale b_scale; as bytes if there is a scale for them.
Kernel QGemm(const Node& node) {
    IntegerProduct product{node, 3, 5, node.Flag("transB")};
    bool is_transposed = node.Flag("transA");
    auto alpha = static_cast<float>(node.Float("alpha"));
    return [product, is_transposed, alpha](const Inputs& in) {
        if (in[0].ndim() != 2 || in[3].ndim() != 2) {
            throw ModelError{"the shapes are ", in[0].shape(), " and ", in[3].shape()};
        }
        Array y = product(is_transposed ? Transpose(in[0]) : in[0], in, 2);
        if (in.Has(6)) y = y + BroadcastTo(in[6], y.shape());
        Array scale = Reshape(in[1], Shape{}) * in[4] * Scalar{alpha};
        if (!in.Has(7)) return Cast(y, Dtype::kFloat32) * scale;
        Array zero = in.Has(8) ? in[8] : Zeros(Shape{}, in[0].dtype(), y.device());
        Array one = Ones(Shape{}, Dtype::kFloat32, y.device());
        return QuantizeBytes(Cast(y, Dtype::kFloat32) * (scale / Reshape(in[7], Shape{})), one, zero);
    };
}

}  // namespace

const OperatorTable kQuantizationOperators = {
        {"DequantizeLinear", Call<DequantizeLinear>, "axis block_size output_dtype"},
        {"DynamicQuantizeLinear", Call<DynamicQuantizeLinear>},
        {"MatMulInteger", MatMulInteger},
        {"QGemm", QGemm, "", Purity::kPure, "com.microsoft"},
        {"QLinearMatMul", QLinearMatMul},
        {"QuantizeLinear", Call<QuantizeLinear>, "axis block_size output_dtype precision"},
};

}  // namespace chainerx::onnx
