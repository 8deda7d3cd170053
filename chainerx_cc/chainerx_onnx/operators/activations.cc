// Activations.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Array Relu(const Array& x) { return IsFloat(x.dtype()) ? chainerx::Relu(x) : Maximum(x, Scalar{0}); }
Array HardSwish(const Array& x) { return x * ClippedRelu(x / Scalar{6.0} + Scalar{0.5}, 1.0); }
Array Softplus(const Array& x) { return chainerx::Softplus(x); }
Array Softsign(const Array& x) { return x / (Scalar{1.0} + Absolute(x)); }
Array Mish(const Array& x) { return x * Tanh(chainerx::Softplus(x)); }
Array Swish(const Array& x, double alpha) { return x * Sigmoid(Scalar{alpha} * x); }

Kernel LeakyRelu(const Node& node) { return WithFloats(node, chainerx::LeakyRelu, "alpha"); }

Kernel Elu(const Node& node) { return WithFloats(node, chainerx::Elu, "alpha"); }

Kernel Selu(const Node& node) {
    auto selu = [](const Array& x, double alpha, double gamma) { return Scalar{gamma} * chainerx::Elu(x, alpha); };
    return WithFloats(node, selu, "alpha", "gamma");
}

Kernel Celu(const Node& node) {
    auto celu = [](const Array& x, double alpha) {
        Array below = Scalar{alpha} * Expm1(Minimum(x, Scalar{0.0}) / Scalar{alpha});
        return chainerx::Where(Greater(x, Scalar{0}), x, below);
    };
    return WithFloats(node, celu, "alpha");
}

Kernel ThresholdedRelu(const Node& node) {
    auto relu = [](const Array& x, double a) { return chainerx::Where(Greater(x, Scalar{a}), x, Scalar{0}); };
    return WithFloats(node, relu, "alpha");
}

Kernel HardSigmoid(const Node& node) {
    auto sigmoid = [](const Array& x, double a, double b) { return ClippedRelu(Scalar{a} * x + Scalar{b}, 1.0); };
    return WithFloats(node, sigmoid, "alpha", "beta");
}

Kernel SwishNode(const Node& node) { return WithFloats(node, Swish, "alpha"); }

Kernel SwiGlu(const Node& node) {
    double alpha = node.Float("alpha");
    return [alpha](const Inputs& in) { return Swish(in[0], alpha) * in[1]; };
}

Kernel Shrink(const Node& node) {
    auto shrink = [](const Array& x, double lambd, double bias) {
        Array below = chainerx::Where(Less(x, Scalar{-lambd}), x + Scalar{bias}, Scalar{0});
        return Cast(chainerx::Where(Greater(x, Scalar{lambd}), x - Scalar{bias}, below), x.dtype());
    };
    return WithFloats(node, shrink, "lambd", "bias");
}

Kernel Gelu(const Node& node) {
    bool is_tanh = node.Choice("approximate", {"none", "tanh"}) == 1;
    return [is_tanh](const Inputs& in) {
        const Array& x = in[0];
        if (!is_tanh) return chainerx::Gelu(x);
        Array inner = Scalar{std::sqrt(2 / 3.14159265358979323846)} * (x + Scalar{0.044715} * x * Square(x));
        return Scalar{0.5} * x * (Scalar{1.0} + Tanh(inner));
    };
}

Kernel PRelu(const Node& node) {
    bool is_by_channel = node.opset() < 7;
    return [is_by_channel](const Inputs& in) {
        Array slope = in[1];
        if (is_by_channel && slope.ndim() == 1 && in[0].ndim() > 1) {
            Shape shape{slope.shape()[0]};
            for (int i = 2; i < in[0].ndim(); ++i) shape.push_back(1);
            slope = Reshape(slope, shape);
        }
        return chainerx::Where(Less(in[0], Scalar{0}), in[0] * slope, in[0]);
    };
}

// Applies a function to an axis. Below opset 13 it works on all axes from it on.
template <class F>
Kernel AlongAxis(const Node& node, F function) {
    int64_t axis = node.Int("axis");
    if (node.opset() >= 13) {
        return [axis, function](const Inputs& in) { return function(in[0], CheckAxis(axis, in[0].ndim())); };
    }
    return [axis, function](const Inputs& in) {
        const Array& x = in[0];
        int first = axis == x.ndim() ? x.ndim() : CheckAxis(axis, x.ndim());
        Array flat = Reshape(x, Shape{SizeOf(x.shape(), 0, first), SizeOf(x.shape(), first, x.ndim())});
        return Reshape(function(flat, 1), x.shape());
    };
}

Kernel Softmax(const Node& node) {
    return AlongAxis(node, [](const Array& x, int8_t axis) { return chainerx::Softmax(x, Axes{axis}); });
}

Kernel LogSoftmax(const Node& node) {
    return AlongAxis(node, [](const Array& x, int8_t axis) { return chainerx::LogSoftmax(x, Axes{axis}); });
}

Kernel Hardmax(const Node& node) {
    return AlongAxis(node, [](const Array& x, int8_t axis) {
        Shape shape{x.shape()[axis]};
        for (int i = axis + 1; i < x.ndim(); ++i) shape.push_back(1);
        Array steps = Reshape(Arange(Scalar{0}, Scalar{x.shape()[axis]}, Scalar{1}, Dtype::kInt64, x.device()), shape);
        return Cast(Equal(steps, ExpandDims(ArgMax(x, axis), axis)), x.dtype());
    });
}

Kernel Dropout(const Node& node) {
    double ratio = node.OptionalFloat("ratio").value_or(0.5);
    bool is_training = node.opset() < 7 && !node.Flag("is_test");
    return [ratio, is_training](const Inputs& in) -> Arrays {
        const Array& x = in[0];
        double r = in.Has(1) ? static_cast<double>(ReadScalar(in[1])) : ratio;
        bool on = is_training || (in.Has(2) && static_cast<bool>(ReadScalar(in[2])));
        if (!on || r == 0) return {x, Ones(x.shape(), Dtype::kBool, x.device())};
        if (!(r > 0 && r < 1)) throw ModelError{"the ratio is ", r};
        Array kept = GreaterEqual(RandomUniform(x.shape(), 0, 1, Dtype::kFloat32, x.device()), Scalar{r});
        return {chainerx::Where(kept, x * Scalar{1 / (1 - r)}, Scalar{0}), kept};
    };
}

const Operator kOperators[] = {
        {"Celu", Celu},
        {"Dropout", Dropout, Purity::kRandom},
        {"Elu", Elu},
        {"Gelu", Gelu},
        {"HardSigmoid", HardSigmoid},
        {"HardSwish", Unary<HardSwish>},
        {"Hardmax", Hardmax},
        {"LeakyRelu", LeakyRelu},
        {"LogSoftmax", LogSoftmax},
        {"Mish", Unary<Mish>},
        {"PRelu", PRelu},
        {"Relu", Unary<Relu>},
        {"Selu", Selu},
        {"Shrink", Shrink},
        {"Sigmoid", Unary<Sigmoid>},
        {"Softmax", Softmax},
        {"Softplus", Unary<Softplus>},
        {"Softsign", Unary<Softsign>},
        {"SwiGLU", SwiGlu},
        {"Swish", SwishNode},
        {"Tanh", Unary<Tanh>},
        {"ThresholdedRelu", ThresholdedRelu},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Activations)

}  // namespace chainerx::onnx
