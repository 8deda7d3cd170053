#pragma once

#include <optional>

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/routine.h"

namespace chainerx::ops {

struct Add : AnyDtype<Add, 2, kComplexSet> {
    CHAINERX_OP("add", "x1, x2", R"(Elementwise sum :math:`x_1 + x_2`; also the operator ``+``. Of booleans: logical
or.

>>> chainerx.add(chainerx.array([1., 2., 3.]), chainerx.array([10., 20., 30.]))
array([11., 22., 33.], shape=(3,), dtype=float64, device='native:0')
)")
    CHAINERX_SIGNLESS
    static constexpr const ElementwiseKernel* kSharedKernel = &kAddKernel;
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a + b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy) const;
};

struct Subtract : Arithmetic<Subtract, 2, kComplexSet> {
    CHAINERX_OP("subtract", "x1, x2", R"(Elementwise difference :math:`x_1 - x_2`; also the operator ``-``.

>>> chainerx.subtract(chainerx.array([1., 2., 3.]), 0.5)
array([0.5, 1.5, 2.5], shape=(3,), dtype=float64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a - b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy) const;
};

struct Multiply : Elementwise<Multiply, 2, DtypeRule::kPromote, kAllSet | kComplexSet> {
    CHAINERX_OP("multiply", "x1, x2", R"(Elementwise product :math:`x_1 x_2`; also the operator ``*``. Of booleans:
logical and.

>>> chainerx.multiply(chainerx.array([1., 2., 3.]), chainerx.array([2., 2., 0.]))
array([2., 4., 0.], shape=(3,), dtype=float64, device='native:0')
)")
    CHAINERX_SIGNLESS
    static constexpr const ElementwiseKernel* kSharedKernel = &kMultiplyKernel;
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        if constexpr (std::is_same_v<T, bool>) {
            return a & b;
        } else if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
            return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
        } else if constexpr (kIsComplex<T>) {
            return math::Product(a, b);
        } else {
            return a * b;
        }
    }
    Array Grad0(const Array& gy, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1) const;
};

struct Divide : FloatMath<Divide, 2, kComplexSet> {
    CHAINERX_OP("divide", "x1, x2", R"(Elementwise quotient :math:`x_1 / x_2`, always in floating point; also the
operator ``/``.

>>> chainerx.divide(chainerx.array([1, 2, 3]), 2)
array([0.5, 1. , 1.5], shape=(3,), dtype=float32, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        if constexpr (kIsComplex<T>) {
            return math::Quotient(a, b);
        } else {
            return a / b;
        }
    }
    Array Grad0(const Array& gy, In<1> x2) const;
    Array Grad1(const Array& gy, In<1> x2, Out y) const;
};

struct FloorDivide : Arithmetic<FloorDivide, 2> {
    CHAINERX_OP("floor_divide", "x1, x2", R"(Elementwise quotient rounded down, :math:`\lfloor x_1 / x_2 \rfloor`;
also the operator ``//``.

>>> chainerx.floor_divide(chainerx.array([7, -7]), 2)
array([ 3, -4], shape=(2,), dtype=int64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::FloorDivide(a, b);
    }
};

struct Remainder : Arithmetic<Remainder, 2> {
    CHAINERX_OP("remainder", "x1, x2", R"(Elementwise remainder :math:`x_1 - \lfloor x_1 / x_2 \rfloor x_2`, with the
sign of the divisor; also the operator ``%``.

>>> chainerx.remainder(chainerx.array([7, -7]), 3)
array([1, 2], shape=(2,), dtype=int64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Remainder(a, b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Fmod : Arithmetic<Fmod, 2> {
    CHAINERX_OP("fmod", "x1, x2", R"(Elementwise remainder of the division rounded towards zero, with the sign of the
dividend.

>>> chainerx.fmod(chainerx.array([7, -7]), 3)
array([ 1, -1], shape=(2,), dtype=int64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Fmod(a, b);
    }
    Array Grad0(const Array& gy) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Power : Elementwise<Power, 2, DtypeRule::kPower, kNumericSet | kComplexSet> {
    CHAINERX_OP("power", "x1, x2", R"(Elementwise power :math:`x_1^{x_2}`; also the operator ``**``. As in NumPy,
integers to negative integers are a ``ValueError``: one of both must be of a floating point dtype.

>>> chainerx.power(chainerx.array([1., 2., 3.]), 2)
array([1., 4., 9.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Power(a, b);
    }
    // Exponents that need no logarithm. As in NumPy, 0.5 is the square root, also of -0 and -inf.
    struct SpecialNumbers {
        template <class T, class F>
        CHAINERX_HOST_DEVICE static bool Visit(T exponent, const F& f) {
            if (exponent == T{2}) {
                f([](T x) CHAINERX_INLINE_LAMBDA { return x * x; });
            } else if (exponent == T{3}) {
                f([](T x) CHAINERX_INLINE_LAMBDA { return x * x * x; });
            } else if (exponent == T{-1}) {
                f([](T x) CHAINERX_INLINE_LAMBDA { return T{1} / x; });
            } else if (exponent == T{0.5}) {
                f([](T x) CHAINERX_INLINE_LAMBDA { return std::sqrt(x); });
            } else {
                return false;
            }
            return true;
        }
    };
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, Out y) const;
};

struct Negative : Arithmetic<Negative, 1, kComplexSet> {
    CHAINERX_OP("negative", "x", R"(Elementwise negation :math:`-x`; also the operator ``-``.

>>> chainerx.negative(chainerx.array([1., -2.]))
array([-1.,  2.], shape=(2,), dtype=float64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(-x);
    }
    Array Grad0(const Array& gy) const;
};

struct Reciprocal : FloatMath<Reciprocal, 1, kComplexSet> {
    CHAINERX_OP("reciprocal", "x", R"(Elementwise reciprocal :math:`1 / x`.

>>> chainerx.reciprocal(chainerx.array([1., 2., 4.]))
array([1.  , 0.5 , 0.25], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return Divide{}.Forward(T{1}, x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Maximum : AnyDtype<Maximum, 2> {
    CHAINERX_OP("maximum", "x1, x2", R"(Elementwise larger one of two values; not-a-number wins.

Where the values are equal, each gets half of the gradient.

>>> chainerx.maximum(chainerx.array([1., 5.]), chainerx.array([3., 2.]))
array([3., 5.], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Max(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Minimum : AnyDtype<Minimum, 2> {
    CHAINERX_OP("minimum", "x1, x2", R"(Elementwise smaller one of two values; not-a-number wins.

Where the values are equal, each gets half of the gradient.

>>> chainerx.minimum(chainerx.array([1., 5.]), chainerx.array([3., 2.]))
array([1., 2.], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return math::Min(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Where : Elementwise<Where, 3, DtypeRule::kSelect, kAllSet | kComplexSet> {
    CHAINERX_OP("where", "condition, x=None, y=None",
                R"(Elements of ``x`` where the condition holds, of ``y`` elsewhere.
With the condition alone: the indices at which it holds, as :func:`chainerx.nonzero` gives them.

>>> x = chainerx.array([-1., 2., -3.])
>>> chainerx.where(x > 0, x, 0)
array([0., 2., 0.], shape=(3,), dtype=float64, device='native:0')
>>> (i,) = chainerx.where(x < 0)
>>> i
array([0, 2], shape=(2,), dtype=int64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(bool c, T a, T b) const {
        // By bits: as a conditional expression it becomes a branch.
        if constexpr (std::is_floating_point_v<T>) {
            return math::Select(c, a, b);
        } else if constexpr (kIsComplex<T>) {
            return c ? a : b;
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

// Conj of complex arrays.
struct Conjugate : Elementwise<Conjugate, 1, DtypeRule::kPromote, kComplexSet> {
    CHAINERX_OP("_conj", "x", "Elementwise complex conjugate.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return {x.real(), -x.imag()};
    }
    Array Grad0(const Array& gy) const;
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
    X(Conjugate)                   \
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

// Limits elements to an interval, of which one bound may be missing.
Array Clip(const Array& a, const std::optional<Operand>& a_min, const std::optional<Operand>& a_max);

// Rounds to a number of decimals; a negative one stands for tens, hundreds and so on.
Array Round(const Array& a, int64_t decimals = 0);

#define CHAINERX_ARITHMETIC_ROUTINES(X) \
    X(Clip)                             \
    X(Round)

CHAINERX_ARITHMETIC_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
