// Activations.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Kernel Relu(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) { return IsFloat(in[0].dtype()) ? chainerx::Relu(in[0]) : Maximum(in[0], Scalar{0}); };
}

Kernel LeakyRelu(const Node& node) {
    node.Ignore({"consumed_inputs"});
    double alpha = node.Float("alpha", 0.01);
    return [alpha](const Inputs& in) { return chainerx::LeakyRelu(in[0], alpha); };
}

Kernel PRelu(const Node& node) {
    node.Ignore({"consumed_inputs"});
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

Kernel ThresholdedRelu(const Node& node) {
    double alpha = node.Float("alpha", 1.0);
    return [alpha](const Inputs& in) { return chainerx::Where(Greater(in[0], Scalar{alpha}), in[0], Scalar{0}); };
}

Kernel Elu(const Node& node) {
    node.Ignore({"consumed_inputs"});
    double alpha = node.Float("alpha", 1.0);
    return [alpha](const Inputs& in) { return chainerx::Elu(in[0], alpha); };
}

Kernel Selu(const Node& node) {
    node.Ignore({"consumed_inputs"});
    double alpha = node.Float("alpha", 1.67326319217681884765625);
    double gamma = node.Float("gamma", 1.05070102214813232421875);
    return [alpha, gamma](const Inputs& in) { return Scalar{gamma} * chainerx::Elu(in[0], alpha); };
}

Kernel Celu(const Node& node) {
    double alpha = node.Float("alpha", 1.0);
    return [alpha](const Inputs& in) {
        return chainerx::Where(Greater(in[0], Scalar{0}), in[0],
                               Scalar{alpha} * Expm1(Minimum(in[0], Scalar{0.0}) / Scalar{alpha}));
    };
}

template <const auto& kFunction>
Kernel Simple(const Node& node) {
    node.Ignore({"consumed_inputs"});
    return [](const Inputs& in) { return kFunction(in[0]); };
}

Kernel HardSigmoid(const Node& node) {
    node.Ignore({"consumed_inputs"});
    double alpha = node.Float("alpha", 0.2);
    double beta = node.Float("beta", 0.5);
    return [alpha, beta](const Inputs& in) { return ClippedRelu(Scalar{alpha} * in[0] + Scalar{beta}, 1.0); };
}

Kernel HardSwish(const Node&) {
    return [](const Inputs& in) { return in[0] * ClippedRelu(in[0] / Scalar{6.0} + Scalar{0.5}, 1.0); };
}

Kernel Softplus(const Node&) {
    return [](const Inputs& in) { return chainerx::Softplus(in[0]); };
}

Kernel Softsign(const Node&) {
    return [](const Inputs& in) { return in[0] / (Scalar{1.0} + Absolute(in[0])); };
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

Kernel Mish(const Node&) {
    return [](const Inputs& in) { return in[0] * Tanh(chainerx::Softplus(in[0])); };
}

Kernel Swish(const Node& node) {
    double alpha = node.Float("alpha", 1.0);
    return [alpha](const Inputs& in) { return in[0] * Sigmoid(Scalar{alpha} * in[0]); };
}

Kernel Shrink(const Node& node) {
    double lambd = node.Float("lambd", 0.5);
    double bias = node.Float("bias", 0.0);
    return [lambd, bias](const Inputs& in) {
        const Array& x = in[0];
        Array below = chainerx::Where(Less(x, Scalar{-lambd}), x + Scalar{bias}, Scalar{0});
        return Cast(chainerx::Where(Greater(x, Scalar{lambd}), x - Scalar{bias}, below), x.dtype());
    };
}

// Applies a function to an axis. Below opset 13 it works on all axes from it on.
template <class F>
Kernel AlongAxis(const Node& node, F function) {
    if (node.opset() >= 13) {
        int64_t axis = node.Int("axis", -1);
        return [axis, function](const Inputs& in) { return function(in[0], CheckAxis(axis, in[0].ndim())); };
    }
    int64_t axis = node.Int("axis", 1);
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
    node.Ignore({"consumed_inputs", "seed"});
    double ratio = node.Float("ratio", 0.5);
    bool is_training = node.opset() < 7 && node.Int("is_test", 0) == 0;
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

Kernel SwiGlu(const Node& node) {
    double alpha = node.Float("alpha", 1.0);
    return [alpha](const Inputs& in) { return in[0] * Sigmoid(Scalar{alpha} * in[0]) * in[1]; };
}

const Operator kOperators[] = {
        {"Celu", 1, 1, Celu},
        {"Dropout", 1, 3, Dropout, Purity::kRandom},
        {"Elu", 1, 1, Elu},
        {"Gelu", 1, 1, Gelu},
        {"HardSigmoid", 1, 1, HardSigmoid},
        {"HardSwish", 1, 1, HardSwish},
        {"Hardmax", 1, 1, Hardmax},
        {"LeakyRelu", 1, 1, LeakyRelu},
        {"LogSoftmax", 1, 1, LogSoftmax},
        {"Mish", 1, 1, Mish},
        {"PRelu", 2, 2, PRelu},
        {"Relu", 1, 1, Relu},
        {"Selu", 1, 1, Selu},
        {"Shrink", 1, 1, Shrink},
        {"Sigmoid", 1, 1, Simple<Sigmoid>},
        {"Softmax", 1, 1, Softmax},
        {"Softplus", 1, 1, Softplus},
        {"Softsign", 1, 1, Softsign},
        {"SwiGLU", 2, 2, SwiGlu},
        {"Swish", 1, 1, Swish},
        {"Tanh", 1, 1, Simple<Tanh>},
        {"ThresholdedRelu", 1, 1, ThresholdedRelu},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Activations)

}  // namespace chainerx::onnx
