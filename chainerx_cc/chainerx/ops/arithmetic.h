#pragma once

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Add : AnyDtype<Add, 2> {
    CHAINERX_OP("add", "x1, x2", "Elementwise sum. Of booleans: logical or.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a + b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy) const;
};

struct Subtract : Arithmetic<Subtract, 2> {
    CHAINERX_OP("subtract", "x1, x2", "Elementwise difference.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a - b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy) const;
};

struct Multiply : AnyDtype<Multiply, 2> {
    CHAINERX_OP("multiply", "x1, x2", "Elementwise product. Of booleans: logical and.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) < 4) {
            return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
        } else {
            return a * b;
        }
    }
    Array Grad0(const Array& gy, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1) const;
};

struct Divide : Elementwise<Divide, 2, DtypeRule::kDivide, kFloatSet> {
    CHAINERX_OP("divide", "x1, x2", "Elementwise quotient, always in floating point.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return a / b;
    }
    Array Grad0(const Array& gy, In<1> x2) const;
    Array Grad1(const Array& gy, In<1> x2, Out y) const;
};

struct FloorDivide : Arithmetic<FloorDivide, 2> {
    CHAINERX_OP("floor_divide", "x1, x2", "Elementwise quotient rounded towards minus infinity. Stops gradients.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::FloorDivide(a, b);
    }
};

struct Remainder : Arithmetic<Remainder, 2> {
    CHAINERX_OP("remainder", "x1, x2", "Elementwise remainder with the sign of the divisor.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Remainder(a, b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Fmod : Arithmetic<Fmod, 2> {
    CHAINERX_OP("fmod", "x1, x2", "Elementwise remainder with the sign of the dividend.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Fmod(a, b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Power : Arithmetic<Power, 2> {
    CHAINERX_OP("power", "x1, x2", "Elementwise power :math:`x_1^{x_2}`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Power(a, b);
    }
    // Exponents that need no logarithm. As in NumPy, 0.5 is the square root, also of -0 and -inf.
    struct SpecialNumbers {
        template <class T, class F>
        CHAINERX_HOST_DEVICE static bool Visit(T exponent, const F& f) {
            if (exponent == T{2}) {
                f([](T x) __attribute__((always_inline)) { return x * x; });
            } else if (exponent == T{3}) {
                f([](T x) __attribute__((always_inline)) { return x * x * x; });
            } else if (exponent == T{-1}) {
                f([](T x) __attribute__((always_inline)) { return T{1} / x; });
            } else if (exponent == T{0.5}) {
                f([](T x) __attribute__((always_inline)) { return std::sqrt(x); });
            } else {
                return false;
            }
            return true;
        }
    };
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, Out y) const;
};

struct Negative : Arithmetic<Negative, 1> {
    CHAINERX_OP("negative", "x", "Elementwise negation.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(-x);
    }
    Array Grad0(const Array& gy) const;
};

struct Reciprocal : FloatMath<Reciprocal, 1> {
    CHAINERX_OP("reciprocal", "x", "Elementwise :math:`1 / x`.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return T{1} / x;
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Maximum : AnyDtype<Maximum, 2> {
    CHAINERX_OP("maximum", "x1, x2", "Elementwise maximum. The gradient is shared where the values are equal.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Max(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Minimum : AnyDtype<Minimum, 2> {
    CHAINERX_OP("minimum", "x1, x2", "Elementwise minimum. The gradient is shared where the values are equal.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Min(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Where : Elementwise<Where, 3, DtypeRule::kSelect, kAllSet> {
    CHAINERX_OP("where", "condition, x, y", "Elements of ``x`` where the condition holds, of ``y`` elsewhere.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(bool c, T a, T b) const {
        // By bits: as a conditional expression it becomes a branch.
        if constexpr (std::is_floating_point_v<T>) {
            return native::math::Select(c, a, b);
        } else if constexpr (std::is_same_v<T, bool>) {
            return (c & a) | (!c & b);
        } else {
            auto mask = static_cast<T>(-static_cast<T>(c));
            return static_cast<T>((a & mask) | (b & ~mask));
        }
    }
    Array Grad1(const Array& gy, In<0> c) const;
    Array Grad2(const Array& gy, In<0> c) const;
};

// x limited to [lo, hi]; `lo` and `hi` are numbers or arrays, but do not get gradients.
struct ClipBetween : AnyDtype<ClipBetween, 3> {
    CHAINERX_OP("_clip", "x, a_min, a_max", "Elementwise limits on both sides.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x, T lo, T hi) const {
        return math::Min(math::Max(x, lo), hi);
    }
    Array Grad0(const Array& gy, In<0> x, In<1> lo, In<2> hi) const;
};

#define CHAINERX_ARITHMETIC_OPS(X) \
    X(Add)                         \
    X(Subtract)                    \
    X(Multiply)                    \
    X(Divide)                      \
    X(FloorDivide)                 \
    X(Remainder)                   \
    X(Fmod)                        \
    X(Power)                       \
    X(Negative)                    \
    X(Reciprocal)                  \
    X(Maximum)                     \
    X(Minimum)                     \
    X(Where)                       \
    X(ClipBetween)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_ARITHMETIC_OPS(CHAINERX_DEFINE_FUNCTION)

inline Array operator-(const Array& x) { return Negative(x); }

#define CHAINERX_DEFINE_OPERATOR(op, Name)                                           \
    inline Array operator op(const Array& a, const Array& b) { return Name(a, b); }  \
    inline Array operator op(const Array& a, const Scalar& b) { return Name(a, b); } \
    inline Array operator op(const Scalar& a, const Array& b) { return Name(a, b); } \
    inline const Array& operator op##=(const Array & a, const Array & b) {           \
        ops::Name::CallInPlace(a, b);                                                \
        return a;                                                                    \
    }                                                                                \
    inline const Array& operator op##=(const Array & a, const Scalar & b) {          \
        ops::Name::CallInPlace(a, b);                                                \
        return a;                                                                    \
    }
CHAINERX_DEFINE_OPERATOR(+, Add)
CHAINERX_DEFINE_OPERATOR(-, Subtract)
CHAINERX_DEFINE_OPERATOR(*, Multiply)
CHAINERX_DEFINE_OPERATOR(/, Divide)
#undef CHAINERX_DEFINE_OPERATOR

}  // namespace chainerx
