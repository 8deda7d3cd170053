// Quantization to integers of eight or more bits.

#include "chainerx/ops/quantization.h"

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

namespace {

// A zero point, which is zero if it is missing.
Array ZeroOf(const Array& zero, Dtype dtype, Device& device) { return zero ? zero : Zeros(Shape{}, dtype, device); }

// y scale + zero of float32, rounded to bytes.
Array ScaleToBytes(const Array& y, const Array& scale, const Array& zero) {
    Array one = Ones(Shape{}, Dtype::kFloat32, y.device());
    return QuantizeBytes(Cast(y, Dtype::kFloat32) * Cast(scale, Dtype::kFloat32), one, zero);
}

}  // namespace

Array Quantize(const Array& y, const Array& zero_point, Dtype dtype) {
    if (!IsInteger(dtype) || GetItemSize(dtype) > 4) {
        throw ModelError{"quantization to ", dtype, " is not supported"};
    }
    Array wide = Rint(Cast(y, Dtype::kFloat64));
    if (zero_point) wide = wide + Cast(zero_point, Dtype::kFloat64);
    return Cast(Minimum(Maximum(wide, LimitOf(dtype, false)), LimitOf(dtype, true)), dtype);
}

Dtype ScalesDtype(const Inputs& in) {
    bool is_narrow = true;
    for (int i : {1, 4, 6}) is_narrow = is_narrow && in[i].dtype() == Dtype::kFloat32;
    return is_narrow ? Dtype::kFloat32 : Dtype::kFloat64;
}

Array Requantize(const Inputs& in, const Array& y, const Array& scale) {
    if (IsByte(in[7].dtype()) && in[7].GetTotalSize() == 1) return ScaleToBytes(y, scale, in[7]);
    return Quantize(Cast(y, Dtype::kFloat64) * Cast(scale, Dtype::kFloat64), in[7], in[7].dtype());
}

namespace {

// Whether scale and zero point are those of functions of bytes.
bool AreOfBytes(const Array& scale, const Array& zero) {
    return scale.dtype() == Dtype::kFloat32 && scale.GetTotalSize() == 1 && (!zero || zero.GetTotalSize() == 1);
}

Array QuantizeLinear(const Array& input, const Array& scale, const Array& zero, int64_t axis, int64_t block,
                     const std::optional<Dtype>& dtype, const std::optional<Dtype>& precision) {
    Dtype out = zero ? zero.dtype() : dtype.value_or(Dtype::kUInt8);
    if (IsByte(out) && !precision && block == 0 && input.dtype() == Dtype::kFloat32 && AreOfBytes(scale, zero)) {
        return QuantizeBytes(input, scale, ZeroOf(zero, out, input.device()));
    }
    Dtype wide = precision.value_or(IsFloat(input.dtype()) ? input.dtype() : scale.dtype());
    Array x = Cast(input, wide);
    Array by = precision ? Cast(scale, wide) : scale;
    return Quantize(x / Aligned(by, x, axis, block), zero ? Aligned(zero, x, axis, block) : zero, out);
}

Array DequantizeLinear(const Array& x, const Array& scale, const Array& zero, int64_t axis, int64_t block,
                       const std::optional<Dtype>& dtype) {
    bool is_float32 = dtype.value_or(Dtype::kFloat32) == Dtype::kFloat32;
    if (IsByte(x.dtype()) && block == 0 && is_float32 && AreOfBytes(scale, zero)) {
        return DequantizeBytes(x, scale, ZeroOf(zero, x.dtype(), x.device()));
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
    const std::optional<PackedIntegerMatrix>& packed() const { return packed_; }
    // As int32. The zero point of `a` is input 2.
    Array operator()(const Array& a, const Inputs& in) const {
        if (packed_) return (*packed_)(a, in.Optional(2));
        Array b = is_transposed_ ? Transpose(in[b_]) : in[b_];
        return IntegerMatmul(a, b, in.Optional(2), in.Optional(b_zero_));
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
    if (product.packed()) {
        node.Consume(1);
        node.Consume(3);
    }
    if (!node.HasInput(5)) return [product](const Inputs& in) { return product(in[0], in); };
    IntegerEpilogue epilogue{Array{}, node.Constant(5), node.Constant(6), node.relu};
    node.Consume(5);
    node.Consume(6);
    return [product, epilogue](const Inputs& in) {
        IntegerEpilogue scaled = epilogue;
        scaled.a_scale = in[4];
        return (*product.packed())(in[0], in.Optional(2), scaled);
    };
}

Kernel QLinearMatMul(const Node& node) {
    IntegerProduct product{node, 3, 5};
    return [product](const Inputs& in) {
        Dtype dtype = ScalesDtype(in);
        Array a_scale = Cast(in[1], dtype);
        if (a_scale.ndim() == 1 && a_scale.GetTotalSize() > 1) a_scale = ExpandDims(a_scale, 1);
        return Requantize(in, product(in[0], in), a_scale * Cast(in[4], dtype) / Cast(in[6], dtype));
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
        Array y = product(is_transposed ? Transpose(in[0]) : in[0], in);
        if (in.Has(6)) y = y + BroadcastTo(in[6], y.shape());
        Array scale = Reshape(in[1], Shape{}) * in[4] * Scalar{alpha};
        if (!in.Has(7)) return Cast(y, Dtype::kFloat32) * scale;
        Array zero = ZeroOf(in.Has(8) ? in[8] : Array{}, in[0].dtype(), y.device());
        return ScaleToBytes(y, scale / Reshape(in[7], Shape{}), zero);
    };
}

// -- Operators on bytes that ONNX Runtime adds to those of ONNX: what their numbers mean is computed in float32, and
// rounded to bytes again. Scales and zero points have one element.

constexpr const char* kDomain = "com.microsoft";

Array Dequantized(const Array& x, const Array& scale, const Array& zero) {
    return DequantizeBytes(x, scale, ZeroOf(zero, x.dtype(), x.device()));
}

// In the dtype of the zero point, or else of `like`.
Array Quantized(const Array& y, const Array& scale, const Array& zero, const Array& like) {
    return QuantizeBytes(y, scale, ZeroOf(zero, like.dtype(), y.device()));
}

// An operator that is called as one of ONNX behind "QLinear", and has the same attributes, of which the row of a table
// names those that its function takes. After `kPlain` inputs that are no bytes, each of `kOperands` is followed by its
// scale and zero point, and then those of the result come.
template <int kOperands, int kPlain = 0>
Kernel Between(const Node& node) {
    Kernel kernel = FindOperator("", node.op_type().substr(std::string{"QLinear"}.size()))->make(node);
    return [kernel](const Inputs& in) {
        constexpr int kResult = kPlain + 3 * kOperands;
        Values xs;
        for (int i = 0; i < kPlain; ++i) xs.emplace_back(in[i]);
        for (int i = kPlain; i < kResult; i += 3) xs.emplace_back(Dequantized(in[i], in[i + 1], in[i + 2]));
        Array y = CallKernel(kernel, xs, 1)[0].array();
        return Quantized(y, in[kResult], in.Has(kResult + 1) ? in[kResult + 1] : Array{}, in[kPlain]);
    };
}

// Each input is followed by its scale and zero point.
Array QLinearConcat(const Array& scale, const Array& zero, const Arrays& inputs, int64_t axis) {
    if (inputs.size() % 3 != 0) throw ModelError{"it has ", inputs.size() + 2, " inputs"};
    Arrays parts;
    for (size_t i = 0; i < inputs.size(); i += 3) {
        parts.push_back(Dequantized(inputs[i], inputs[i + 1], inputs[i + 2]));
    }
    return Quantized(Concatenate(parts, CheckAxis(axis, parts[0].ndim())), scale, zero, zero);
}

Array QLinearGlobalAveragePool(const Array& x, const Array& x_scale, const Array& x_zero, const Array& scale,
                               const Array& zero, bool channels_last) {
    Axes axes = channels_last ? AxesBetween(1, x.ndim() - 1) : AxesBetween(2, x.ndim());
    return Quantized(Mean(Dequantized(x, x_scale, x_zero), axes, true), scale, zero, x);
}

Array QLinearSoftmax(const Array& x, const Array& x_scale, const Array& x_zero, const Array& scale, const Array& zero,
                     int64_t axis, int64_t opset) {
    return Quantized(AlongAxis<Softmax>(Dequantized(x, x_scale, x_zero), axis, Opset{opset}), scale, zero, x);
}

}  // namespace

const OperatorTable kQuantizationOperators = {
        {"DequantizeLinear", Call<DequantizeLinear>, "axis block_size output_dtype"},
        {"DynamicQuantizeLinear", Call<DynamicQuantizeLinear>},
        {"MatMulInteger", MatMulInteger},
        {"QGemm", QGemm, "", Purity::kPure, kDomain},
        {"QLinearAdd", Between<2>, "", Purity::kPure, kDomain},
        {"QLinearAveragePool", Between<1>, "count_include_pad", Purity::kPure, kDomain},
        {"QLinearConcat", Call<QLinearConcat>, "axis", Purity::kPure, kDomain},
        {"QLinearGlobalAveragePool", Call<QLinearGlobalAveragePool>, "channels_last", Purity::kPure, kDomain},
        {"QLinearLeakyRelu", Between<1>, "alpha", Purity::kPure, kDomain},
        {"QLinearMatMul", QLinearMatMul},
        {"QLinearMul", Between<2>, "", Purity::kPure, kDomain},
        {"QLinearSigmoid", Between<1>, "", Purity::kPure, kDomain},
        {"QLinearSoftmax", Call<QLinearSoftmax>, "axis opset", Purity::kPure, kDomain},
        {"QLinearWhere", Between<2, 1>, "", Purity::kPure, kDomain},
        {"QuantizeLinear", Call<QuantizeLinear>, "axis block_size output_dtype precision"},
};

}  // namespace chainerx::onnx
