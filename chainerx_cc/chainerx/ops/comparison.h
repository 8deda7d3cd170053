#pragma once

#include <limits>

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Equal : Predicate<Equal, 2> {
    CHAINERX_OP("equal", "x1, x2", "Elementwise equality.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a == b;
    }
};

struct NotEqual : Predicate<NotEqual, 2> {
    CHAINERX_OP("not_equal", "x1, x2", "Elementwise inequality.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a != b;
    }
};

struct Greater : Predicate<Greater, 2> {
    CHAINERX_OP("greater", "x1, x2", "Elementwise ``x1 > x2``.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a > b;
    }
};

struct GreaterEqual : Predicate<GreaterEqual, 2> {
    CHAINERX_OP("greater_equal", "x1, x2", "Elementwise ``x1 >= x2``.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a >= b;
    }
};

struct Less : Predicate<Less, 2> {
    CHAINERX_OP("less", "x1, x2", "Elementwise ``x1 < x2``.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a < b;
    }
};

struct LessEqual : Predicate<LessEqual, 2> {
    CHAINERX_OP("less_equal", "x1, x2", "Elementwise ``x1 <= x2``.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return a <= b;
    }
};

struct LogicalAnd : Predicate<LogicalAnd, 2> {
    CHAINERX_OP("logical_and", "x1, x2", "Elementwise logical and.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return (a != T{}) & (b != T{});
    }
};

struct LogicalOr : Predicate<LogicalOr, 2> {
    CHAINERX_OP("logical_or", "x1, x2", "Elementwise logical or.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return (a != T{}) | (b != T{});
    }
};

struct LogicalXor : Predicate<LogicalXor, 2> {
    CHAINERX_OP("logical_xor", "x1, x2", "Elementwise exclusive or of truth values.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T a, T b) const {
        return (a != T{}) != (b != T{});
    }
};

struct LogicalNot : Predicate<LogicalNot, 1> {
    CHAINERX_OP("logical_not", "x", "Elementwise logical negation.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        return x == T{};
    }
};

struct IsNan : Predicate<IsNan, 1> {
    CHAINERX_OP("isnan", "x", "True where an element is not a number.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        return x != x;
    }
};

struct IsInf : Predicate<IsInf, 1> {
    CHAINERX_OP("isinf", "x", "True where an element is an infinity.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return math::Abs(x) == std::numeric_limits<T>::infinity();
        } else {
            return false;
        }
    }
};

struct IsFinite : Predicate<IsFinite, 1> {
    CHAINERX_OP("isfinite", "x", "True where an element is neither an infinity nor not a number.")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return math::Abs(x) < std::numeric_limits<T>::infinity();
        } else {
            return true;
        }
    }
};

struct BitwiseAnd : Bitwise<BitwiseAnd, 2> {
    CHAINERX_OP("bitwise_and", "x1, x2", "Elementwise bitwise and of integers or booleans.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a & b);
    }
};

struct BitwiseOr : Bitwise<BitwiseOr, 2> {
    CHAINERX_OP("bitwise_or", "x1, x2", "Elementwise bitwise or of integers or booleans.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a | b);
    }
};

struct BitwiseXor : Bitwise<BitwiseXor, 2> {
    CHAINERX_OP("bitwise_xor", "x1, x2", "Elementwise bitwise exclusive or of integers or booleans.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};

struct Invert : Bitwise<Invert, 1> {
    CHAINERX_OP("invert", "x", "Elementwise bitwise negation of integers, logical negation of booleans.")
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
    CHAINERX_OP("left_shift", "x1, x2", "Elementwise shift of bits to the left.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        constexpr T kBits = static_cast<T>(sizeof(T) * 8);
        return b >= 0 && b < kBits ? static_cast<T>(static_cast<uint64_t>(a) << b) : T{0};
    }
};

struct RightShift : Shift<RightShift, 2> {
    CHAINERX_OP("right_shift", "x1, x2", "Elementwise arithmetic shift of bits to the right.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        constexpr T kBits = static_cast<T>(sizeof(T) * 8);
        return b >= 0 && b < kBits ? static_cast<T>(a >> b) : static_cast<T>(a < 0 ? -1 : 0);
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

}  // namespace chainerx
