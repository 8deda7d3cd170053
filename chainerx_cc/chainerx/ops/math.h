#pragma once

// Scalar functions that op functors are written with.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/kernels/math.h"
#include "chainerx/backends/native/kernels/math_loops.h"
#include "chainerx/core/macro.h"

namespace chainerx::math {

// Those of the native backend vectorise.
using native::math::Cosh;
using native::math::Erf;
using native::math::Erfc;
using native::math::Exp;
using native::math::Exp2;
using native::math::Expm1;
using native::math::Gelu;
using native::math::Log;
using native::math::Log10;
using native::math::Log1p;
using native::math::Log2;
using native::math::Sigmoid;
using native::math::Silu;
using native::math::Sinh;
using native::math::Softplus;  // log(1 + exp(x))
using native::math::Tanh;

#define CHAINERX_MATH(Name, function)  \
    template <class T>                 \
    CHAINERX_HOST_DEVICE T Name(T x) { \
        return function(x);            \
    }
CHAINERX_MATH(Sin, native::math::SinSlow)
CHAINERX_MATH(Cos, native::math::CosSlow)
CHAINERX_MATH(Tan, native::math::TanSlow)
CHAINERX_MATH(Arcsin, native::math::Asin)
CHAINERX_MATH(Arccos, native::math::Acos)
CHAINERX_MATH(Arctan, native::math::Atan)
CHAINERX_MATH(Arcsinh, native::math::Asinh)
CHAINERX_MATH(Arccosh, native::math::Acosh)
#undef CHAINERX_MATH

// In an op of floating point numbers: its loop in the native backend.
#define CHAINERX_NATIVE_LOOP(Name)                                     \
    template <class T>                                                 \
    static void Loop(int64_t n, const T* x, T* y) {                    \
        native::UnaryMathLoop<T>(native::UnaryMath::k##Name, n, x, y); \
    }
#define CHAINERX_NATIVE_BINARY_LOOP(Name)                                                       \
    template <class T>                                                                          \
    static void Loop(int64_t n, const T* x1, int64_t step1, const T* x2, int64_t step2, T* y) { \
        native::BinaryMathLoop<T>(native::BinaryMath::k##Name, n, x1, step1, x2, step2, y);     \
    }

// Rounds the quotient towards minus infinity; division of integers by zero gives zero.
template <class T>
CHAINERX_HOST_DEVICE T FloorDivide(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return 0;
        if (std::is_signed_v<T> && b == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
        T q = static_cast<T>(a / b);
        return static_cast<T>(q - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0));
    } else {
        if (b == 0) return a / b;
        T r = std::fmod(a, b);
        T q = (a - r) / b;
        if (r != 0 && (r < 0) != (b < 0)) q -= 1;
        if (q == 0) return std::copysign(T{0}, a / b);
        T rounded = std::floor(q);
        return q - rounded > T{0.5} ? rounded + 1 : rounded;
    }
}

// Has the sign of the divisor.
template <class T>
CHAINERX_HOST_DEVICE T Remainder(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0 || (std::is_signed_v<T> && b == T(-1))) return 0;
        T r = static_cast<T>(a % b);
        return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    } else {
        T r = std::fmod(a, b);
        if (r == 0) return std::copysign(T{0}, b);
        return (r < 0) != (b < 0) ? r + b : r;
    }
}

// Has the sign of the dividend.
template <class T>
CHAINERX_HOST_DEVICE T Fmod(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0 || (std::is_signed_v<T> && b == T(-1))) return 0;
        return static_cast<T>(a % b);
    } else {
        return std::fmod(a, b);
    }
}

template <class T>
CHAINERX_HOST_DEVICE T Power(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b < 0) return a == 1 ? 1 : a == T(-1) ? (b % 2 == 0 ? 1 : T(-1)) : 0;
        using U = std::make_unsigned_t<T>;
        // Unsigned, at least as wide as int, so that overflow wraps.
        using W = std::conditional_t<sizeof(U) < 4, uint32_t, U>;
        W base = static_cast<W>(a);
        W result = 1;
        for (auto e = static_cast<U>(b); e != 0; e = static_cast<U>(e >> 1)) {
            if ((e & 1) != 0) result *= base;
            base *= base;
        }
        return static_cast<T>(result);
    } else {
        return native::math::Pow(a, b);
    }
}

template <class T>
CHAINERX_HOST_DEVICE bool IsNan(T x) {
    return x != x;
}

template <class T>
CHAINERX_HOST_DEVICE T Abs(T x) {
    if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
        return x;
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(x < 0 ? -x : x);
    } else {
        return std::fabs(x);
    }
}

// NaN wins, as in NumPy.
template <class T>
CHAINERX_HOST_DEVICE T Max(T a, T b) {
    T larger = a > b ? a : b;
    return a != a ? a : larger;
}
template <class T>
CHAINERX_HOST_DEVICE T Min(T a, T b) {
    T smaller = a < b ? a : b;
    return a != a ? a : smaller;
}

}  // namespace chainerx::math
