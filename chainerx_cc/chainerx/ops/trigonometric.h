#pragma once

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Sin : FloatMath<Sin, 1> {
    CHAINERX_OP("sin", "x", "Elementwise sine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Sin(x);
    }
    CHAINERX_FAST_FORWARD(!native::math::TrigNeedsSlowPath(x), native::math::Sin(x))
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Cos : FloatMath<Cos, 1> {
    CHAINERX_OP("cos", "x", "Elementwise cosine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Cos(x);
    }
    CHAINERX_FAST_FORWARD(!native::math::TrigNeedsSlowPath(x), native::math::Cos(x))
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Tan : FloatMath<Tan, 1> {
    CHAINERX_OP("tan", "x", "Elementwise tangent.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Tan(x);
    }
    CHAINERX_FAST_FORWARD(!native::math::TrigNeedsSlowPath(x), native::math::Tan(x))
    Array Grad0(const Array& gy, Out y) const;
};

struct Arcsin : FloatMath<Arcsin, 1> {
    CHAINERX_OP("arcsin", "x", "Elementwise inverse sine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Arcsin(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arccos : FloatMath<Arccos, 1> {
    CHAINERX_OP("arccos", "x", "Elementwise inverse cosine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Arccos(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arctan : FloatMath<Arctan, 1> {
    CHAINERX_OP("arctan", "x", "Elementwise inverse tangent.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Arctan(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arctan2 : FloatMath<Arctan2, 2> {
    CHAINERX_OP("arctan2", "x1, x2", "The angle of the point :math:`(x_2, x_1)`, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return native::math::Atan2(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Sinh : FloatMath<Sinh, 1> {
    CHAINERX_OP("sinh", "x", "Elementwise hyperbolic sine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Sinh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Cosh : FloatMath<Cosh, 1> {
    CHAINERX_OP("cosh", "x", "Elementwise hyperbolic cosine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Cosh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Tanh : FloatMath<Tanh, 1> {
    CHAINERX_OP("tanh", "x", "Elementwise hyperbolic tangent.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Tanh(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Arcsinh : FloatMath<Arcsinh, 1> {
    CHAINERX_OP("arcsinh", "x", "Elementwise inverse hyperbolic sine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Arcsinh(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Arccosh : FloatMath<Arccosh, 1> {
    CHAINERX_OP("arccosh", "x", "Elementwise inverse hyperbolic cosine.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Arccosh(x);
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
    X(Arccosh)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_DEFINE_FUNCTION)

}  // namespace chainerx
