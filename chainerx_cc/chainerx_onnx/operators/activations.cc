// Activations.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Array Relu(const Array& x) { return IsFloat(x.dtype()) ? chainerx::Relu(x) : Maximum(x, Scalar{0}); }
Array HardSwish(const Array& x) { return x * ClippedRelu(x / Scalar{6.0} + Scalar{0.5}, 1.0); }
Array Softsign(const Array& x) { return x / (Scalar{1.0} + Absolute(x)); }
Array Mish(const Array& x) { return x * Tanh(Softplus(x)); }
Array Selu(const Array& x, double alpha, double gamma) { return Scalar{gamma} * Elu(x, alpha); }
Array ThresholdedRelu(const Array& x, double alpha) { return Where(Greater(x, Scalar{alpha}), x, Scalar{0}); }
Array HardSigmoid(const Array& x, double alpha, double beta) {
    return ClippedRelu(Scalar{alpha} * x + Scalar{beta}, 1.0);
}
Array Swish(const Array& x, double alpha) { return x * Sigmoid(Scalar{alpha} * x); }
Array SwiGlu(const Array& x, const Array& gate, double alpha) { return Swish(x, alpha) * gate; }

Array Celu(const Array& x, double alpha) {
    return Where(Greater(x, Scalar{0}), x, Scalar{alpha} * Expm1(Minimum(x, Scalar{0.0}) / Scalar{alpha}));
}

Array Shrink(const Array& x, double lambd, double bias) {
    Array below = Where(Less(x, Scalar{-lambd}), x + Scalar{bias}, Scalar{0});
    return Cast(Where(Greater(x, Scalar{lambd}), x - Scalar{bias}, below), x.dtype());
}

enum class Approximation { kNone, kTanh };

Array Gelu(const Array& x, Approximation approximate) {
    if (approximate == Approximation::kNone) return chainerx::Gelu(x);
    Array inner = Scalar{std::sqrt(2 / 3.14159265358979323846)} * (x + Scalar{0.044715} * x * Square(x));
    return Scalar{0.5} * x * (Scalar{1.0} + Tanh(inner));
}

Array PRelu(const Array& x, const Array& slope, Opset opset) {
    bool is_by_channel = opset < 7 && slope.ndim() == 1 && x.ndim() > 1;
    return Where(Less(x, Scalar{0}), x * (is_by_channel ? AsAxis(slope, x.ndim() - 2) : slope), x);
}

Array Hardmax(const Array& x, const OptionalAxes& axes) {
    int8_t axis = (*axes)[0];
    Array steps = Steps(x.shape()[axis], x.ndim() - 1 - axis, x.device());
    return Cast(Equal(steps, ExpandDims(ArgMax(x, axis), axis)), x.dtype());
}

// Opsets from 7 to 11 are for inference only.
Arrays Dropout(const Array& x, const Array& ratio, const Array& training, Opset opset, bool is_test,
               const std::optional<double>& given) {
    double r = ratio ? static_cast<double>(AsScalar(ratio)) : given.value_or(0.5);
    bool on = opset < 7 ? !is_test : training && static_cast<bool>(AsScalar(training));
    if (!on || r == 0) return {x, Ones(x.shape(), Dtype::kBool, x.device())};
    if (!(r > 0 && r < 1)) throw ModelError{"the ratio is ", r};
    Array kept = GreaterEqual(RandomUniform(x.shape(), 0, 1, Dtype::kFloat32, x.device()), Scalar{r});
    return {Where(kept, x * Scalar{1 / (1 - r)}, Scalar{0}), kept};
}

}  // namespace

const OperatorTable kActivationsOperators = {
        {"Celu", Call<Celu>, "alpha"},
        {"Dropout", Call<Dropout>, "is_test ratio", Purity::kRandom},
        {"Elu", Call<ops::Elu::Call>, "alpha"},
        {"Gelu", Call<Gelu>, "approximate"},
        {"HardSigmoid", Call<HardSigmoid>, "alpha beta"},
        {"HardSwish", Call<HardSwish>},
        {"Hardmax", Call<AlongAxis<Hardmax>>, "axis"},
        {"LeakyRelu", Call<ops::LeakyRelu::Call>, "alpha"},
        {"LogSoftmax", Call<AlongAxis<chainerx::LogSoftmax>>, "axis"},
        {"Mish", Call<Mish>},
        {"PRelu", Call<PRelu>},
        {"Relu", Call<Relu>},
        {"Selu", Call<Selu>, "alpha gamma"},
        {"Shrink", Call<Shrink>, "lambd bias"},
        {"Sigmoid", Unary<Sigmoid>},
        {"Softmax", Call<AlongAxis<chainerx::Softmax>>, "axis"},
        {"Softplus", Unary<Softplus>},
        {"Softsign", Call<Softsign>},
        {"SwiGLU", Call<SwiGlu>, "alpha"},
        {"Swish", Call<Swish>, "alpha"},
        {"Tanh", Unary<Tanh>},
        {"ThresholdedRelu", Call<ThresholdedRelu>, "alpha"},
};

}  // namespace chainerx::onnx
