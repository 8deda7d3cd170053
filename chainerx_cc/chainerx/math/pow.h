#pragma once

// The power function: 2^(y log2(x)), with the logarithm and the product in two parts, as unevaluated sums of a
// number and what its rounding lost. Errors are below 2.2 units in the last place for float and 1.2 for double.

#include "chainerx/math/float_parts.h"

namespace chainerx::math {

// a * b + c, rounded once: the rounding error of a product, Fma(a, b, -(a * b)), is exact.
#ifdef __FMA__
CHAINERX_INLINE float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CHAINERX_INLINE double Fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
CHAINERX_INLINE float Fma(float a, float b, float c) {
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}
#endif

template <class T>
struct TwoParts {
    T high;
    T low;
};

// c / 3 + z P(z) of PowLogPolynomial P, times z
CHAINERX_INLINE TwoParts<float> PowLogSeries(float z, float /*z_low*/) {
    return {z * (0.961796694F + z * PowLogPolynomial(z)), 0.0F};
}
#ifdef __FMA__
CHAINERX_INLINE TwoParts<double> PowLogSeries(double z, double z_low) {
    constexpr double kFirst = 0.9617966939259756;
    constexpr double kFirstLow = 5.0577616648125906e-17;
    double rest = z * PowLogPolynomial(z);
    double high = kFirst + rest;
    double low = (rest - (high - kFirst)) + kFirstLow;
    double product = z * high;
    return {product, Fma(z_low, high, Fma(z, low, Fma(z, high, -product)))};
}
#endif

// log2(x) + shift of a normal positive number
template <class T>
CHAINERX_INLINE TwoParts<T> Log2InTwoParts(T x, T shift) {
    using F = Format<T>;
    using Int = IntOf<T>;
    // x = 2^e m with 0.8 <= m < 1.6, and 1 + f is m or 3/4 m: |f| <= 0.2 has no error.
    Int bits = WrapSubtract(ToBits(x), F::kFourFifthsBits);
    T e = FromInteger(bits >> F::kMantissaBits) + shift;
    T m = FromBits(WrapAdd(bits & ((Int{1} << F::kMantissaBits) - 1), F::kFourFifthsBits));
    bool upper = m > T(1.19);
    T f = Fma(m, upper ? T(0.75) : T{1}, T{-1});
    e = upper ? e + F::kLog2Of4ThirdsHigh : e;
    // s = f / (2 + f): log2(1 + f) = s (c + c s^2 / 3 + ...) with c = 2 / log(2)
    T d = T{2} + f;
    T inverse = T{1} / d;
    T s = f * inverse;
    T s_low = inverse * Fma(-s, f - (d - T{2}), Fma(-s, d, f));
    T z = s * s;
    TwoParts<T> series = PowLogSeries(z, Fma(s + s, s_low, Fma(s, s, -z)));
    T factor = F::kTwoOverLn2High + series.high;
    T factor_low = ((series.high - (factor - F::kTwoOverLn2High)) + F::kTwoOverLn2Low) + series.low;
    T product = s * factor;
    T product_low = Fma(s_low, factor, Fma(s, factor_low, Fma(s, factor, -product)));
    product_low = upper ? product_low + F::kLog2Of4ThirdsLow : product_low;
    T high = e + product;
    return {high, (product - (high - e)) + product_low};
}

// x^y from |x|^y: a negative base has integer exponents only, odd ones negate.
template <class T>
CHAINERX_INLINE T PowSign(T power, T x, T y) {
    bool whole = Floor(y) == y;
    T half = y * T(0.5);
    bool odd = whole & (Floor(half) != half);
    power = Select(odd, CopySign(power, x), power);
    return Select((x < T{0}) & !whole & (x > -kInfinity<T>), kNaN<T>, power);
}

// |x|^y if |x| and the result are normal and finite. AllNormal and AllBelow(kPowNormal<T>) of the ranges tell
// afterwards whether they were.
template <class T>
constexpr T kPowNormal = Format<T>::kBias - 1;
template <class T>
CHAINERX_INLINE T PowNormal(T x, T y, BitRange<T>* bases, BitRange<T>* exponents) {
    T a = Abs(x);
    bases->AddPositive(a);
    TwoParts<T> log = Log2InTwoParts(a, T{0});
    T exponent = y * log.high;
    T low = Fma(y, log.low, Fma(y, log.high, -exponent));
    exponents->AddMagnitude(exponent);
    Rounded<T> rounded = Round(exponent);
    T r = (exponent - rounded.value) + low;
    using Bits = std::make_unsigned_t<IntOf<T>>;
    Bits power = static_cast<Bits>(rounded.integer) << Format<T>::kMantissaBits;
    return FromBits(WrapAdd(ToBits(T{1} + r * Exp2Polynomial(r)), static_cast<IntOf<T>>(power)));
}

template <class T>
CHAINERX_INLINE T PowAny(T x, T y) {
    using F = Format<T>;
    constexpr T kMax = F::kBias + 2;                        // from here, 2^e is infinite
    constexpr T kMin = -(F::kBias + F::kMantissaBits + 2);  // from here, 0
    T a = Abs(x);
    bool tiny = a < std::numeric_limits<T>::min();
    T normal = tiny ? a * static_cast<T>(IntOf<T>{1} << F::kMantissaBits) : a;
    TwoParts<T> log = Log2InTwoParts(normal, tiny ? T(-F::kMantissaBits) : T{0});
    T exact = y * log.high;
    T exponent = AtLeast(AtMost(exact, kMax), kMin);
    T low = Fma(y, log.low, Fma(y, log.high, -exact));
    low = Select(exponent == exact, low, T{0});
    Rounded<T> rounded = Round(exponent);
    T r = (exponent - rounded.value) + low;
    T result = Scale(T{1} + r * Exp2Polynomial(r), rounded.integer);
    bool negative = y < T{0};
    result = Select(a == T{0}, Select(negative, kInfinity<T>, T{0}), result);
    result = Select(a == kInfinity<T>, Select(negative, T{0}, kInfinity<T>), result);
    result = PowSign(result, x, y);
    result = Select(x == x, result, x);
    result = Select(y == y, result, y);
    // One for any other operand: 1^y, x^0 and (-1)^(+-inf).
    bool one = (x == T{1}) | ((x == T{-1}) & (Abs(y) == kInfinity<T>)) | (y == T{0});
    return Select(one, T{1}, result);
}

CHAINERX_INLINE float Pow(float x, float y) { return PowAny(x, y); }
#ifdef __FMA__
CHAINERX_INLINE double Pow(double x, double y) { return PowAny(x, y); }
#else
CHAINERX_INLINE double Pow(double x, double y) { return __builtin_pow(x, y); }
#endif

}  // namespace chainerx::math
