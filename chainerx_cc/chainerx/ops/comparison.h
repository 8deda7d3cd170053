#pragma once

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/routine.h"

namespace chainerx::ops {

struct Equal : Comparison<Equal, kComplexSet> {
    CHAINERX_OP("equal", "x1, x2", R"(Elementwise :math:`x_1 = x_2`; also the operator ``==``.

>>> chainerx.equal(chainerx.array([1, 2, 3]), chainerx.array([1, 0, 3]))
array([ True, False,  True], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a == b;
    }
};

struct NotEqual : Comparison<NotEqual, kComplexSet> {
    CHAINERX_OP("not_equal", "x1, x2", R"(Elementwise :math:`x_1 \ne x_2`; also the operator ``!=``.

>>> chainerx.not_equal(chainerx.array([1, 2, 3]), chainerx.array([1, 0, 3]))
array([False,  True, False], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a != b;
    }
};

struct Greater : Comparison<Greater> {
    CHAINERX_OP("greater", "x1, x2", R"(Elementwise :math:`x_1 > x_2`; also the operator ``>``.

>>> chainerx.greater(chainerx.array([1, 2, 3]), 2)
array([False, False,  True], shape=(3,), dtype=bool, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a > b;
    }
};

struct GreaterEqual : Comparison<GreaterEqual> {
    CHAINERX_OP("greater_equal", "x1, x2", R"(Elementwise :math:`x_1 \ge x_2`; also the operator ``>=``.

>>> chainerx.greater_equal(chainerx.array([1, 2, 3]), 2)
array([False,  True,  True], shape=(3,), dtype=bool, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a >= b;
    }
};

struct Less : Comparison<Less> {
    CHAINERX_OP("less", "x1, x2", R"(Elementwise :math:`x_1 < x_2`; also the operator ``<``.

>>> chainerx.less(chainerx.array([1, 2, 3]), 2)
array([ True, False, False], shape=(3,), dtype=bool, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a < b;
    }
};

struct LessEqual : Comparison<LessEqual> {
    CHAINERX_OP("less_equal", "x1, x2", R"(Elementwise :math:`x_1 \le x_2`; also the operator ``<=``.

>>> chainerx.less_equal(chainerx.array([1, 2, 3]), 2)
array([ True,  True, False], shape=(3,), dtype=bool, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a <= b;
    }
};

struct LogicalAnd : Predicate<LogicalAnd, 2> {
    CHAINERX_OP("logical_and", "x1, x2", R"(Elementwise logical and; numbers other than zero are true.

>>> chainerx.logical_and(chainerx.array([0, 1, 2]), chainerx.array([1, 0, 3]))
array([False, False,  True], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return (a != T{}) & (b != T{});
    }
};

struct LogicalOr : Predicate<LogicalOr, 2> {
    CHAINERX_OP("logical_or", "x1, x2", R"(Elementwise logical or; numbers other than zero are true.

>>> chainerx.logical_or(chainerx.array([0, 1, 0]), chainerx.array([0, 0, 3]))
array([False,  True,  True], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return (a != T{}) | (b != T{});
    }
};

struct LogicalXor : Predicate<LogicalXor, 2> {
    CHAINERX_OP("logical_xor", "x1, x2", R"(Elementwise exclusive or of truth values; numbers other than zero are
true.

>>> chainerx.logical_xor(chainerx.array([0, 1, 2]), chainerx.array([1, 0, 3]))
array([ True,  True, False], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return (a != T{}) != (b != T{});
    }
};

struct LogicalNot : Predicate<LogicalNot, 1, kComplexSet> {
    CHAINERX_OP("logical_not", "x", R"(Elementwise logical negation; numbers other than zero are true.

>>> chainerx.logical_not(chainerx.array([0, 1, 2]))
array([ True, False, False], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        return x == T{};
    }
};

struct IsNan : Predicate<IsNan, 1, kComplexSet> {
    CHAINERX_OP("isnan", "x", R"(True where an element is not a number.

>>> chainerx.isnan(chainerx.array([1., chainerx.nan, chainerx.inf]))
array([False,  True, False], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        return x != x;
    }
};

struct IsInf : Predicate<IsInf, 1, kComplexSet> {
    CHAINERX_OP("isinf", "x", R"(True where an element is infinite.

>>> chainerx.isinf(chainerx.array([1., chainerx.nan, chainerx.inf]))
array([False, False,  True], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return math::Abs(x) == math::kInfinity<T>;
        } else if constexpr (kIsComplex<T>) {
            return Forward(x.real()) || Forward(x.imag());
        } else {
            return false;
        }
    }
};

struct IsFinite : Predicate<IsFinite, 1, kComplexSet> {
    CHAINERX_OP("isfinite", "x", R"(True where an element is neither infinite nor not-a-number.

>>> chainerx.isfinite(chainerx.array([1., chainerx.nan, chainerx.inf]))
array([ True, False, False], shape=(3,), dtype=bool, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return math::Abs(x) < math::kInfinity<T>;
        } else if constexpr (kIsComplex<T>) {
            return Forward(x.real()) && Forward(x.imag());
        } else {
            return true;
        }
    }
};

struct BitwiseAnd : Bitwise<BitwiseAnd, 2> {
    CHAINERX_OP("bitwise_and", "x1, x2", R"(Elementwise bitwise and; also the operator ``&``.

>>> chainerx.bitwise_and(chainerx.array([6, 5]), 3)
array([2, 1], shape=(2,), dtype=int64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a & b);
    }
};

struct BitwiseOr : Bitwise<BitwiseOr, 2> {
    CHAINERX_OP("bitwise_or", "x1, x2", R"(Elementwise bitwise or; also the operator ``|``.

>>> chainerx.bitwise_or(chainerx.array([6, 5]), 3)
array([7, 7], shape=(2,), dtype=int64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a | b);
    }
};

struct BitwiseXor : Bitwise<BitwiseXor, 2> {
    CHAINERX_OP("bitwise_xor", "x1, x2", R"(Elementwise bitwise exclusive or; also the operator ``^``.

>>> chainerx.bitwise_xor(chainerx.array([6, 5]), 3)
array([5, 6], shape=(2,), dtype=int64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};

struct Invert : Bitwise<Invert, 1> {
    CHAINERX_OP("invert", "x", R"(Elementwise bitwise negation, logical negation of booleans; also the operator ``~``.

>>> chainerx.invert(chainerx.array([0, 5]))
array([-1, -6], shape=(2,), dtype=int64, device='native:0')
)")
    CHAINERX_SIGNLESS
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (std::is_same_v<T, bool>) {
            return !x;
        } else {
            return static_cast<T>(~x);
        }
    }
};

struct LeftShift : Shift<LeftShift, 2> {
    CHAINERX_OP("left_shift", "x1, x2", R"(Elementwise shift of the bits of ``x1`` to the left by ``x2``; also the
operator ``<<``.

>>> chainerx.left_shift(chainerx.array([1, 3]), chainerx.array([1, 2]))
array([ 2, 12], shape=(2,), dtype=int64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        constexpr T kBits = static_cast<T>(sizeof(T) * 8);
        return !math::IsNegative(b) && b < kBits ? static_cast<T>(static_cast<uint64_t>(a) << b) : T{0};
    }
};

struct RightShift : Shift<RightShift, 2> {
    CHAINERX_OP("right_shift", "x1, x2", R"(Elementwise shift of the bits of ``x1`` to the right by ``x2``, keeping
the sign; also the operator ``>>``.

>>> chainerx.right_shift(chainerx.array([8, -8]), chainerx.array([1, 2]))
array([ 4, -2], shape=(2,), dtype=int64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        constexpr T kBits = static_cast<T>(sizeof(T) * 8);
        return !math::IsNegative(b) && b < kBits ? static_cast<T>(a >> b)
                                                 : static_cast<T>(math::IsNegative(a) ? -1 : 0);
    }
};

#define CHAINERX_COMPARISON_OPS(X) \
    X(Equal)                       \
    X(NotEqual)                    \
    X(Greater)                     \
    X(GreaterEqual)                \
    X(Less)                        \
    X(LessEqual)                   \
    X(LogicalAnd)                  \
    X(LogicalOr)                   \
    X(LogicalXor)                  \
    X(LogicalNot)                  \
    X(IsNan)                       \
    X(IsInf)                       \
    X(IsFinite)                    \
    X(BitwiseAnd)                  \
    X(BitwiseOr)                   \
    X(BitwiseXor)                  \
    X(Invert)                      \
    X(LeftShift)                   \
    X(RightShift)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_COMPARISON_OPS(CHAINERX_DEFINE_FUNCTION)

// Whether |a - b| <= atol + rtol |b|, elementwise and for all elements.
Array IsClose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
bool AllClose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
// Whether shapes and elements are equal.
bool ArrayEqual(const Array& a, const Array& b, bool equal_nan = false);

#define CHAINERX_COMPARISON_ROUTINES(X) \
    X(IsClose)                          \
    X(AllClose)                         \
    X(ArrayEqual)

CHAINERX_COMPARISON_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
