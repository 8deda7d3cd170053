#pragma once

#include "chainerx/ops/comparison.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Relu : Arithmetic<Relu, 1> {
    CHAINERX_OP("relu", "x", "Rectified linear unit, :math:`\\max(0, x)`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return x < 0 ? T{0} : x;
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct ReluGrad : Arithmetic<ReluGrad, 2> {
    CHAINERX_OP("_relu_grad", "gy, y", "``gy`` where the output of relu is positive, zero elsewhere.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T gy, T y) const {
        return y > 0 ? gy : T{0};
    }
    Array Grad0(const Array& gy, In<1> y) const;
};

struct Sigmoid : FloatMath<Sigmoid, 1> {
    CHAINERX_OP("sigmoid", "x", "Elementwise logistic function :math:`1 / (1 + e^{-x})`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Sigmoid(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct SigmoidGrad : FloatMath<SigmoidGrad, 2> {
    CHAINERX_OP("_sigmoid_grad", "gy, y", "``gy * y * (1 - y)``.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T gy, T y) const {
        return gy * y * (1 - y);
    }
    Array Grad0(const Array& gy, In<1> y) const;
    Array Grad1(const Array& gy, In<0> g, In<1> y) const;
};

struct LeakyRelu : FloatMath<LeakyRelu, 1> {
    CHAINERX_OP("leaky_relu", "x, slope=0.2", "``x`` where not negative, ``slope * x`` elsewhere.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        T negative = static_cast<T>(slope) * x;
        return x >= 0 ? x : negative;
    }
    Array Grad0(const Array& gy, In<0> x) const;
    static Array Call(const Array& x, double slope = 0.2) { return ApplyElementwise(LeakyRelu{{}, slope}, {x}); }
    double slope{0.2};
};

struct Elu : FloatMath<Elu, 1> {
    CHAINERX_OP("elu", "x, alpha=1.0", "``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        T negative = static_cast<T>(alpha) * math::Expm1(x);
        return x > 0 ? x : negative;
    }
    Array Grad0(const Array& gy, In<0> x, Out y) const;
    static Array Call(const Array& x, double alpha = 1.0) { return ApplyElementwise(Elu{{}, alpha}, {x}); }
    double alpha{1.0};
};

struct Softplus : FloatMath<Softplus, 1> {
    CHAINERX_OP("softplus", "x, beta=1.0", "Smooth rectifier :math:`\\log(1 + e^{\\beta x}) / \\beta`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Softplus(static_cast<T>(beta) * x) / static_cast<T>(beta);
    }
    Array Grad0(const Array& gy, In<0> x) const;
    static Array Call(const Array& x, double beta = 1.0) { return ApplyElementwise(Softplus{{}, beta}, {x}); }
    double beta{1.0};
};

struct ClippedRelu : Arithmetic<ClippedRelu, 1> {
    CHAINERX_OP("clipped_relu", "x, z=20.0",
                "Rectified linear unit with an upper limit, :math:`\\min(\\max(0, x), z)`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Min(math::Max(x, T{0}), static_cast<T>(z));
    }
    Array Grad0(const Array& gy, In<0> x) const;
    static Array Call(const Array& x, double z = 20.0) { return ApplyElementwise(ClippedRelu{{}, z}, {x}); }
    double z{20.0};
};

struct Silu : FloatMath<Silu, 1> {
    CHAINERX_OP("silu", "x", "Sigmoid linear unit, :math:`x / (1 + e^{-x})`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Silu(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Gelu : FloatMath<Gelu, 1> {
    CHAINERX_OP("gelu", "x", "Gaussian error linear unit :math:`x \\Phi(x)`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Gelu(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

#define CHAINERX_ACTIVATION_OPS(X) \
    X(Relu)                        \
    X(ReluGrad)                    \
    X(Sigmoid)                     \
    X(SigmoidGrad)                 \
    X(LeakyRelu)                   \
    X(Elu)                         \
    X(Softplus)                    \
    X(ClippedRelu)                 \
    X(Silu)                        \
    X(Gelu)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_ACTIVATION_OPS(CHAINERX_DEFINE_FUNCTION)

}  // namespace chainerx
