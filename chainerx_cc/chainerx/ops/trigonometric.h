#pragma once

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Sin : FloatMath<Sin, 1, kComplexSet> {
    CHAINERX_OP("sin", "x", R"(Elementwise sine of radians.

>>> chainerx.sin(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.47942554, 0.84147098], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Sin(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Cos : FloatMath<Cos, 1, kComplexSet> {
    CHAINERX_OP("cos", "x", R"(Elementwise cosine of radians.

>>> chainerx.cos(chainerx.array([0., 0.5, 1.]))
array([1.        , 0.87758256, 0.54030231], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Cos(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Tan : FloatMath<Tan, 1, kComplexSet> {
    CHAINERX_OP("tan", "x", R"(Elementwise tangent of radians.

>>> chainerx.tan(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.54630249, 1.55740772], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Tan(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Arcsin : FloatMath<Arcsin, 1, kComplexSet> {
    CHAINERX_OP("arcsin", "x", R"(Elementwise inverse sine, in radians, for :math:`-1 \le x \le 1`.

>>> chainerx.arcsin(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.52359878, 1.57079633], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Asin(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arccos : FloatMath<Arccos, 1, kComplexSet> {
    CHAINERX_OP("arccos", "x", R"(Elementwise inverse cosine, in radians, for :math:`-1 \le x \le 1`.

>>> chainerx.arccos(chainerx.array([0., 0.5, 1.]))
array([1.57079633, 1.04719755, 0.        ], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Acos(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arctan : FloatMath<Arctan, 1, kComplexSet> {
    CHAINERX_OP("arctan", "x", R"(Elementwise inverse tangent, in radians.

>>> chainerx.arctan(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.46364761, 0.78539816], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Atan(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arctan2 : FloatMath<Arctan2, 2> {
    CHAINERX_OP("arctan2", "x1, x2", R"(Elementwise angle of the point :math:`(x_2, x_1)`, in radians between
:math:`-\pi` and :math:`\pi`.

>>> chainerx.arctan2(chainerx.array([1., 1., -1.]), chainerx.array([1., -1., -1.]))
array([ 0.78539816,  2.35619449, -2.35619449], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Atan2(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Sinh : FloatMath<Sinh, 1, kComplexSet> {
    CHAINERX_OP("sinh", "x", R"(Elementwise hyperbolic sine.

>>> chainerx.sinh(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.52109531, 1.17520119], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Sinh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Cosh : FloatMath<Cosh, 1, kComplexSet> {
    CHAINERX_OP("cosh", "x", R"(Elementwise hyperbolic cosine.

>>> chainerx.cosh(chainerx.array([0., 0.5, 1.]))
array([1.        , 1.12762597, 1.54308063], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Cosh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Tanh : FloatMath<Tanh, 1, kComplexSet> {
    CHAINERX_OP("tanh", "x", R"(Elementwise hyperbolic tangent.

>>> chainerx.tanh(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.46211716, 0.76159416], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Tanh(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Arcsinh : FloatMath<Arcsinh, 1, kComplexSet> {
    CHAINERX_OP("arcsinh", "x", R"(Elementwise inverse hyperbolic sine.

>>> chainerx.arcsinh(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.48121183, 0.88137359], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Asinh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arccosh : FloatMath<Arccosh, 1, kComplexSet> {
    CHAINERX_OP("arccosh", "x", R"(Elementwise inverse hyperbolic cosine, for :math:`x \ge 1`.

>>> chainerx.arccosh(chainerx.array([1., 2., 3.]))
array([0.        , 1.3169579 , 1.76274717], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Acosh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arctanh : FloatMath<Arctanh, 1, kComplexSet> {
    CHAINERX_OP("arctanh", "x", R"(Elementwise inverse hyperbolic tangent, for :math:`-1 \le x \le 1`.

>>> chainerx.arctanh(chainerx.array([0., 0.5, 1.]))
array([0.        , 0.54930614,        inf], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Atanh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

#define CHAINERX_TRIGONOMETRIC_OPS(X) \
    X(Sin)                            \
    X(Cos)                            \
    X(Tan)                            \
    X(Arcsin)                         \
    X(Arccos)                         \
    X(Arctan)                         \
    X(Arctan2)                        \
    X(Sinh)                           \
    X(Cosh)                           \
    X(Tanh)                           \
    X(Arcsinh)                        \
    X(Arccosh)                        \
    X(Arctanh)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_DEFINE_FUNCTION)

}  // namespace chainerx
