// Operators on bytes that ONNX Runtime adds to those of ONNX: what their numbers mean is computed in float32, and
// rounded to bytes again. Scales and zero points have one element.

#include "chainerx/ops/quantization.h"
#include "chainerx_onnx/operators/quantized.h"

namespace chainerx::onnx {
namespace {

constexpr const char* kDomain = "com.microsoft";

Array ZeroOf(const Array& zero, Dtype dtype, Device& device) { return zero ? zero : Zeros(Shape{}, dtype, device); }

Array Dequantized(const Array& x, const Array& scale, const Array& zero) {
    return DequantizeBytes(x, scale, ZeroOf(zero, x.dtype(), x.device()));
}

// In the dtype of the zero point, or else of `like`.
Array Quantized(const Array& y, const Array& scale, const Array& zero, const Array& like) {
    return QuantizeBytes(y, scale, ZeroOf(zero, like.dtype(), y.device()));
}

template <Array (*kFunction)(const Array&, const Array&)>
Array Elementwise(const Array& a, const Array& a_scale, const Array& a_zero, const Array& b, const Array& b_scale,
                  const Array& b_zero, const Array& scale, const Array& zero) {
    return Quantized(kFunction(Dequantized(a, a_scale, a_zero), Dequantized(b, b_scale, b_zero)), scale, zero, a);
}

Array Sum(const Array& a, const Array& b) { return a + b; }
Array Product(const Array& a, const Array& b) { return a * b; }

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
    Axes axes;
    int first = channels_last ? 1 : 2;
    for (int i = first; i < first + x.ndim() - 2; ++i) axes.push_back(static_cast<int8_t>(i));
    return Quantized(Mean(Dequantized(x, x_scale, x_zero), axes, true), scale, zero, x);
}

Array QLinearSoftmax(const Array& x, const Array& x_scale, const Array& x_zero, const Array& scale, const Array& zero,
                     int64_t axis, int64_t opset) {
    Array y = Dequantized(x, x_scale, x_zero);
    // Below opset 13 it works on all axes from one on.
    y = opset >= 13 ? Softmax(y, Axes{CheckAxis(axis, y.ndim())})
                    : Reshape(Softmax(AsMatrix(y, axis), Axes{1}), y.shape());
    return Quantized(y, scale, zero, x);
}

Array QLinearWhere(const Array& condition, const Array& x, const Array& x_scale, const Array& x_zero, const Array& y,
                   const Array& y_scale, const Array& y_zero, const Array& scale, const Array& zero) {
    return Quantized(Where(condition, Dequantized(x, x_scale, x_zero), Dequantized(y, y_scale, y_zero)), scale, zero,
                     x);
}

// An operator of ONNX with the same attributes, of which the row of a table names those that its function takes.
template <const char* kName>
Kernel Between(const Node& node) {
    Kernel kernel = FindOperator("", kName)->make(node);
    return [kernel](const Inputs& in) {
        Array x = Dequantized(in[0], in[1], in[2]);
        Array y = CallKernel(kernel, {x}, 1)[0].array();
        return Quantized(y, in[3], in.Has(4) ? in[4] : Array{}, in[0]);
    };
}

constexpr char kAveragePool[] = "AveragePool";
constexpr char kLeakyRelu[] = "LeakyRelu";
constexpr char kSigmoid[] = "Sigmoid";

Kernel QLinearAveragePool(const Node& node) {
    std::string padding = node.String("auto_pad");
    if (node.Flag("channels_last") || (padding != "NOTSET" && padding != "VALID")) {
        throw ModelError{"channels_last and auto_pad '", padding, "' are not supported"};
    }
    return Between<kAveragePool>(node);
}

}  // namespace

const OperatorTable kRuntimeQuantizationOperators = {
        {"QLinearAdd", Call<Elementwise<Sum>>, "", Purity::kPure, kDomain},
        {"QLinearAveragePool", QLinearAveragePool, "count_include_pad", Purity::kPure, kDomain},
        {"QLinearConcat", Call<QLinearConcat>, "axis", Purity::kPure, kDomain},
        {"QLinearGlobalAveragePool", Call<QLinearGlobalAveragePool>, "channels_last", Purity::kPure, kDomain},
        {"QLinearLeakyRelu", Between<kLeakyRelu>, "alpha", Purity::kPure, kDomain},
        {"QLinearMul", Call<Elementwise<Product>>, "", Purity::kPure, kDomain},
        {"QLinearSigmoid", Between<kSigmoid>, "", Purity::kPure, kDomain},
        {"QLinearSoftmax", Call<QLinearSoftmax>, "axis opset", Purity::kPure, kDomain},
        {"QLinearWhere", Call<QLinearWhere>, "", Purity::kPure, kDomain},
};

}  // namespace chainerx::onnx
