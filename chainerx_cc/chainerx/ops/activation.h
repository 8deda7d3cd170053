#pragma once

#include "chainerx/ops/comparison.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/routine.h"

namespace chainerx::ops {

struct Relu : FloatMath<Relu, 1> {
    CHAINERX_OP("relu", "x", R"(Elementwise rectified linear unit :math:`\max(0, x)`. Its derivative at zero is zero.

>>> chainerx.relu(chainerx.array([-1., 0., 2.]))
array([0., 0., 2.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::IsNegative(x) ? T{0} : x;
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct ReluGrad : FloatMath<ReluGrad, 2> {
    CHAINERX_OP("_relu_grad", "gy, y", "``gy`` where the output of relu is positive, zero elsewhere.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T gy, T y) const {
        return y > 0 ? gy : T{0};
    }
    Array Grad0(const Array& gy, In<1> y) const;
};

struct Sigmoid : FloatMath<Sigmoid, 1> {
    CHAINERX_OP("sigmoid", "x", R"(Elementwise logistic function :math:`1 / (1 + e^{-x})`.

>>> chainerx.sigmoid(chainerx.array([-1., 0., 1.]))
array([0.26894142, 0.5       , 0.73105858], shape=(3,), dtype=float64, device='native:0')
)")
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
    CHAINERX_OP("leaky_relu", "x, slope=0.2", R"(Elementwise ``x`` where it is not negative, ``slope * x`` elsewhere.

>>> chainerx.leaky_relu(chainerx.array([-1., 0., 2.]), slope=0.1)
array([-0.1,  0. ,  2. ], shape=(3,), dtype=float64, device='native:0')
)")
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
    CHAINERX_OP("elu", "x, alpha=1.0", R"(Elementwise ``x`` where positive, :math:`\alpha (e^x - 1)` elsewhere.

>>> chainerx.elu(chainerx.array([-1., 0., 2.]))
array([-0.63212056,  0.        ,  2.        ], shape=(3,), dtype=float64, device='native:0')
)")
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
    CHAINERX_OP("softplus", "x, beta=1.0", R"(Elementwise smooth rectifier :math:`\log(1 + e^{\beta x}) / \beta`.

>>> chainerx.softplus(chainerx.array([-1., 0., 2.]))
array([0.31326169, 0.69314718, 2.12692801], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Softplus(static_cast<T>(beta) * x) / static_cast<T>(beta);
    }
    Array Grad0(const Array& gy, In<0> x) const;
    static Array Call(const Array& x, double beta = 1.0) { return ApplyElementwise(Softplus{{}, beta}, {x}); }
    double beta{1.0};
};

struct ClippedRelu : FloatMath<ClippedRelu, 1> {
    CHAINERX_OP("clipped_relu", "x, z=20.0", R"(Elementwise rectified linear unit with a limit,
:math:`\min(\max(0, x), z)`.

>>> chainerx.clipped_relu(chainerx.array([-1., 2., 9.]), z=6.)
array([0., 2., 6.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Min(math::Max(x, T{0}), static_cast<T>(z));
    }
    Array Grad0(const Array& gy, In<0> x) const;
    static Array Call(const Array& x, double z = 20.0) { return ApplyElementwise(ClippedRelu{{}, z}, {x}); }
    double z{20.0};
};

struct Silu : FloatMath<Silu, 1> {
    CHAINERX_OP("silu", "x", R"(Elementwise sigmoid linear unit :math:`x / (1 + e^{-x})`.

>>> chainerx.silu(chainerx.array([-1., 0., 2.]))
array([-0.26894142,  0.        ,  1.76159416], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Silu(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Gelu : FloatMath<Gelu, 1> {
    CHAINERX_OP("gelu", "x", R"(Elementwise Gaussian error linear unit :math:`x \Phi(x)`, where :math:`\Phi` is the
standard normal distribution function.

>>> chainerx.gelu(chainerx.array([-1., 0., 2.]))
array([-0.15865525,  0.        ,  1.95449974], shape=(3,), dtype=float64, device='native:0')
)")
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

// The positive parts of x and of -x, joined along an axis.
Array Crelu(const Array& x, int64_t axis = 1);

#define CHAINERX_ACTIVATION_ROUTINES(X) X(Crelu)

CHAINERX_ACTIVATION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
