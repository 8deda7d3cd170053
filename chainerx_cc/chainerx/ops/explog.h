#pragma once

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Exp : FloatMath<Exp, 1> {
    CHAINERX_OP("exp", "x", "Elementwise exponential.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Exp(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Exp2 : FloatMath<Exp2, 1> {
    CHAINERX_OP("exp2", "x", "Elementwise power of two.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Exp2(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Expm1 : FloatMath<Expm1, 1> {
    CHAINERX_OP("expm1", "x", "Elementwise exponential minus one, precise near zero.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Expm1(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Log : FloatMath<Log, 1> {
    CHAINERX_OP("log", "x", "Elementwise natural logarithm.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log(x);
    }
    CHAINERX_FAST_FORWARD(native::math::IsNormal(x), native::math::LogNormal(x))
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Log2 : FloatMath<Log2, 1> {
    CHAINERX_OP("log2", "x", "Elementwise logarithm to the base 2.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log2(x);
    }
    CHAINERX_FAST_FORWARD(native::math::IsNormal(x), native::math::Log2Normal(x))
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Log10 : FloatMath<Log10, 1> {
    CHAINERX_OP("log10", "x", "Elementwise logarithm to the base 10.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log10(x);
    }
    CHAINERX_FAST_FORWARD(native::math::IsNormal(x), native::math::Log10Normal(x))
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Log1p : FloatMath<Log1p, 1> {
    CHAINERX_OP("log1p", "x", "Elementwise logarithm of one plus the argument, precise near zero.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log1p(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Sqrt : FloatMath<Sqrt, 1> {
    CHAINERX_OP("sqrt", "x", "Elementwise square root.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::sqrt(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Erf : FloatMath<Erf, 1> {
    CHAINERX_OP("erf", "x", "Elementwise Gauss error function.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Erf(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Square : Arithmetic<Square, 1> {
    CHAINERX_OP("square", "x", "Elementwise square.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return Multiply{}.Forward(x, x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Absolute : AnyDtype<Absolute, 1> {
    CHAINERX_OP("absolute", "x", "Elementwise absolute value.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Abs(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Fabs : FloatMath<Fabs, 1> {
    CHAINERX_OP("fabs", "x", "Elementwise absolute value in floating point.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Abs(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Sign : Arithmetic<Sign, 1> {
    CHAINERX_OP("sign", "x", "Elementwise sign: -1, 0 or 1. Stops gradients.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return x != x ? x : static_cast<T>((x > 0) - (x < 0));
        } else {
            return static_cast<T>((x > 0) - (x < 0));
        }
    }
};

struct Floor : AnyDtype<Floor, 1> {
    CHAINERX_OP("floor", "x", "Elementwise rounding towards minus infinity. Stops gradients.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::floor(x);
        } else {
            return x;
        }
    }
};

struct Ceil : AnyDtype<Ceil, 1> {
    CHAINERX_OP("ceil", "x", "Elementwise rounding towards plus infinity. Stops gradients.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::ceil(x);
        } else {
            return x;
        }
    }
};

struct Trunc : AnyDtype<Trunc, 1> {
    CHAINERX_OP("trunc", "x", "Elementwise rounding towards zero. Stops gradients.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::trunc(x);
        } else {
            return x;
        }
    }
};

struct Rint : AnyDtype<Rint, 1> {
    CHAINERX_OP("rint", "x", "Elementwise rounding to the nearest integer, halves to even. Stops gradients.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::nearbyint(x);
        } else {
            return x;
        }
    }
};

struct Copysign : FloatMath<Copysign, 2> {
    CHAINERX_OP("copysign", "x1, x2", "The magnitude of ``x1`` with the sign of ``x2``, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return std::copysign(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
};

#define CHAINERX_EXPLOG_OPS(X) \
    X(Exp)                     \
    X(Exp2)                    \
    X(Expm1)                   \
    X(Log)                     \
    X(Log2)                    \
    X(Log10)                   \
    X(Log1p)                   \
    X(Sqrt)                    \
    X(Erf)                     \
    X(Square)                  \
    X(Absolute)                \
    X(Fabs)                    \
    X(Sign)                    \
    X(Floor)                   \
    X(Ceil)                    \
    X(Trunc)                   \
    X(Rint)                    \
    X(Copysign)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_EXPLOG_OPS(CHAINERX_DEFINE_FUNCTION)

}  // namespace chainerx
