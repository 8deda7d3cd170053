#pragma once

// Scalar functions that op functors call. The compiler of every backend can include this.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/macro.h"
#include "chainerx/math/complex.h"
#if defined(__CUDACC__)
#include "chainerx/math/device.h"
#else
#include "chainerx/math/elementary.h"
#endif

namespace chainerx::math {

template <class T>
CHAINERX_HOST_DEVICE bool IsNegative(T x) {
    if constexpr (std::is_unsigned_v<T>) {
        return false;
    } else {
        return x < 0;
    }
}

// Rounds the quotient towards minus infinity; division of integers by zero gives zero.
template <class T>
CHAINERX_HOST_DEVICE T FloorDivide(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return 0;
        if (std::is_signed_v<T> && b == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
        T q = static_cast<T>(a / b);
        return static_cast<T>(q - ((a % b != 0) && (IsNegative(a) != IsNegative(b)) ? 1 : 0));
    } else {
        if (b == 0) return a / b;
        T r = std::fmod(a, b);
        T q = (a - r) / b;
        if (r != 0 && IsNegative(r) != IsNegative(b)) q -= 1;
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
        return r != 0 && IsNegative(r) != IsNegative(b) ? static_cast<T>(r + b) : r;
    } else {
        T r = std::fmod(a, b);
        if (r == 0) return std::copysign(T{0}, b);
        return IsNegative(r) != IsNegative(b) ? r + b : r;
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
        if (IsNegative(b)) return a == 1 ? 1 : a == T(-1) ? (b % 2 == 0 ? 1 : T(-1)) : 0;
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
        return Pow(a, b);
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
    } else {
        static_assert(std::is_integral_v<T>);  // others are overloads
        return static_cast<T>(x < 0 ? -x : x);
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
