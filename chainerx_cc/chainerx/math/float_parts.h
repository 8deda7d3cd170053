#pragma once

// The bit-level parts that the functions of elementary.h are made of.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/core/macro.h"
#include "chainerx/math/polynomials.h"

namespace chainerx::math {

template <class T>
struct Format;

template <>
struct Format<float> {
    using Int = int32_t;
    static constexpr int kMantissaBits = 23;
    static constexpr Int kBias = 127;
    static constexpr Int kSqrtHalfBits = 0x3f3504f3;
    static constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits
    // log(2) and pi / 2 in pieces; the first of log(2) times an exponent is exact.
    static constexpr float kLn2High = 0.693145752F;
    static constexpr float kLn2Low = 1.42860677e-6F;
    static constexpr float kHalfPiHigh = 1.57079637F;
    static constexpr float kHalfPiLow = -4.37113883e-8F;
    static constexpr float kHalfPiLowest = -1.71512451e-15F;
    // 2 / log(2) and log2(4/3) for powers: the second's first piece and an exponent add exactly.
    static constexpr float kTwoOverLn2High = 2.88539004F;
    static constexpr float kTwoOverLn2Low = 3.85192598e-8F;
    static constexpr float kLog2Of4ThirdsHigh = 0.41497802734375F;
    static constexpr float kLog2Of4ThirdsLow = 5.94719351e-5F;
    static constexpr Int kFourFifthsBits = 0x3f4ccccd;
    static constexpr float kExpMin = -104.0F;   // below, exp is 0
    static constexpr float kExpMax = 89.0F;     // above, exp is infinite
    static constexpr float kExpm1Min = -18.0F;  // below, exp - 1 is -1
    static constexpr float kSinhMax = 90.0F;
    static constexpr float kTanhMax = 10.0F;
    static constexpr float kSquareMax = 1e9F;  // beyond, 1 does not change the square
    static constexpr float kErfcMax = 10.5F;   // beyond, erfc is 0
    static constexpr float kMills = 2.0F;      // of MillsPolynomial
    static constexpr float kTrigMax = 71476.0F;
};

template <>
struct Format<double> {
    using Int = int64_t;
    static constexpr int kMantissaBits = 52;
    static constexpr Int kBias = 1023;
    static constexpr Int kSqrtHalfBits = 0x3fe6a09e667f3bcd;
    static constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr double kLn2High = 6.93147180369123816490e-01;
    static constexpr double kLn2Low = 1.90821492927058770002e-10;
    static constexpr double kHalfPiHigh = 1.5707963267948966;
    static constexpr double kHalfPiLow = 6.123233995736766e-17;
    static constexpr double kHalfPiLowest = -1.4973849048591833e-33;
    static constexpr double kTwoOverLn2High = 2.8853900817779268;
    static constexpr double kTwoOverLn2Low = 4.0710547481862064e-17;
    static constexpr double kLog2Of4ThirdsHigh = 0.41503749927869648;
    static constexpr double kLog2Of4ThirdsLow = 1.4733181981985766e-13;
    static constexpr Int kFourFifthsBits = 0x3fe999999999999a;
    static constexpr double kExpMin = -746.0;
    static constexpr double kExpMax = 710.0;
    static constexpr double kExpm1Min = -40.0;
    static constexpr double kSinhMax = 711.0;
    static constexpr double kTanhMax = 21.0;
    static constexpr double kSquareMax = 1e18;
    static constexpr double kErfcMax = 28.0;
    static constexpr double kMills = 3.0;
    static constexpr double kTrigMax = 1048576.0;
};

template <class T>
using IntOf = typename Format<T>::Int;

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

CHAINERX_INLINE int32_t ToBits(float x) {
    int32_t bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return bits;
}
CHAINERX_INLINE int64_t ToBits(double x) {
    int64_t bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return bits;
}
CHAINERX_INLINE float FromBits(int32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
}
CHAINERX_INLINE double FromBits(int64_t bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
}

// Sums and differences of bits. They may wrap around for values that are replaced later.
template <class Int>
CHAINERX_INLINE Int WrapAdd(Int a, Int b) {
    using U = std::make_unsigned_t<Int>;
    return static_cast<Int>(static_cast<U>(a) + static_cast<U>(b));
}
template <class Int>
CHAINERX_INLINE Int WrapSubtract(Int a, Int b) {
    using U = std::make_unsigned_t<Int>;
    return static_cast<Int>(static_cast<U>(a) - static_cast<U>(b));
}

CHAINERX_INLINE float Abs(float x) { return __builtin_fabsf(x); }
CHAINERX_INLINE double Abs(double x) { return __builtin_fabs(x); }
CHAINERX_INLINE float CopySign(float x, float sign) { return __builtin_copysignf(x, sign); }
CHAINERX_INLINE double CopySign(double x, double sign) { return __builtin_copysign(x, sign); }
CHAINERX_INLINE float Sqrt(float x) { return __builtin_sqrtf(x); }
CHAINERX_INLINE double Sqrt(double x) { return __builtin_sqrt(x); }
CHAINERX_INLINE float Floor(float x) { return __builtin_floorf(x); }
CHAINERX_INLINE double Floor(double x) { return __builtin_floor(x); }

// condition ? yes : no, with bit operations: compilers turn nested conditional expressions into branches.
CHAINERX_INLINE float Select(bool condition, float yes, float no) {
    int32_t mask = condition ? -1 : 0;
    return FromBits((ToBits(yes) & mask) | (ToBits(no) & ~mask));
}
CHAINERX_INLINE double Select(bool condition, double yes, double no) {
    int64_t mask = condition ? -1 : 0;
    return FromBits((ToBits(yes) & mask) | (ToBits(no) & ~mask));
}

// The extremes of the numbers of a loop, by their bits. The loop uses formulas for usual numbers, and is repeated if
// there were others.
template <class T>
class BitRange {
public:
    CHAINERX_INLINE void AddPositive(T x) { Add(static_cast<Bits>(ToBits(x)) - kNormal); }
    CHAINERX_INLINE void AddMagnitude(T x) { Add(static_cast<Bits>(ToBits(Abs(x)))); }

    // Whether all numbers of AddPositive were positive, normal and finite
    CHAINERX_INLINE bool AllNormal() const { return greatest_ < static_cast<Bits>(ToBits(kInfinity<T>)) - kNormal; }
    // Whether all numbers of AddMagnitude were below a limit in magnitude
    CHAINERX_INLINE bool AllBelow(T limit) const { return greatest_ < static_cast<Bits>(ToBits(limit)); }

private:
    using Bits = std::make_unsigned_t<IntOf<T>>;
    static constexpr Bits kNormal = Bits{1} << Format<T>::kMantissaBits;

    CHAINERX_INLINE void Add(Bits bits) { greatest_ = bits > greatest_ ? bits : greatest_; }

    Bits greatest_{0};
};

// Comparisons are written so that a NaN passes through.
template <class T>
CHAINERX_INLINE T AtMost(T x, T limit) {
    return x > limit ? limit : x;
}
template <class T>
CHAINERX_INLINE T AtLeast(T x, T limit) {
    return x < limit ? limit : x;
}

// 2^n as a factor, for n in the range of normal numbers.
template <class T>
CHAINERX_INLINE T PowerOfTwo(IntOf<T> n) {
    using U = std::make_unsigned_t<IntOf<T>>;
    return FromBits(static_cast<IntOf<T>>(static_cast<U>(WrapAdd(n, Format<T>::kBias)) << Format<T>::kMantissaBits));
}

// An integer, as a number and in the low bits of `bits`.
template <class T>
struct Rounded {
    T value;
    IntOf<T> integer;
};

template <class T>
CHAINERX_INLINE Rounded<T> Round(T x) {
    T shifted = x + Format<T>::kRound;
    return {shifted - Format<T>::kRound, WrapSubtract(ToBits(shifted), ToBits(Format<T>::kRound))};
}

// x = n log(2) + r. x must be in a range where n is an exponent.
template <class T>
CHAINERX_INLINE T ReduceExp(T x, IntOf<T>* n) {
    Rounded<T> rounded = Round(x * T(1.4426950408889634));
    *n = rounded.integer;
    T r = x - rounded.value * Format<T>::kLn2High;
    return r - rounded.value * Format<T>::kLn2Low;
}

// exp(r) - 1 for |r| <= log(2) / 2
template <class T>
CHAINERX_INLINE T Expm1Reduced(T r) {
    return r + r * r * ExpPolynomial(r);
}

// y * 2^n where y is about 1 and the result may overflow or be denormal.
template <class T>
CHAINERX_INLINE T Scale(T y, IntOf<T> n) {
    IntOf<T> half = n >> 1;
    return y * PowerOfTwo<T>(half) * PowerOfTwo<T>(WrapSubtract(n, half));
}

// (exp(x) - 1) / 2^shift for x between kExpm1Min and where 2^(n - shift) overflows
template <class T>
CHAINERX_INLINE T Expm1Shifted(T x, int shift) {
    IntOf<T> n;
    T p = Expm1Reduced(ReduceExp(x, &n));
    T scale = PowerOfTwo<T>(WrapSubtract(n, IntOf<T>{shift}));
    return scale * p + (scale - PowerOfTwo<T>(-shift));
}

// An integer of small magnitude as a number. (x86-64-v3 has no vector conversion from 64-bit integers.)
CHAINERX_INLINE float FromInteger(int32_t n) { return static_cast<float>(n); }
CHAINERX_INLINE double FromInteger(int64_t n) {
    return FromBits(WrapAdd(n, ToBits(Format<double>::kRound))) - Format<double>::kRound;
}

// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f <= sqrt(2); x normal and positive.
template <class T>
CHAINERX_INLINE T ReduceLog(T x, IntOf<T>* e) {
    using F = Format<T>;
    IntOf<T> bits = WrapSubtract(ToBits(x), F::kSqrtHalfBits);
    *e = bits >> F::kMantissaBits;
    return FromBits(WrapAdd(bits & ((IntOf<T>{1} << F::kMantissaBits) - 1), F::kSqrtHalfBits)) - T{1};
}

// log(1 + f) = f - tail for a reduced f.
CHAINERX_INLINE float LogTail(float f) {
    float square = f * f;
    return 0.5F * square - f * square * LogPolynomial(f);
}
CHAINERX_INLINE double LogTail(double f) {
    // With s = f / (2 + f): log(1 + f) = 2 s + s^3 P(s^2), and 2 s = f - s f.
    double s = f / (2.0 + f);
    double z = s * s;
    double half_square = 0.5 * f * f;
    return half_square - s * (half_square + z * LogRatioPolynomial(z));
}

// sin and cos of r, |r| <= pi / 4
template <class T>
CHAINERX_INLINE T SinReduced(T r, T z) {
    return r + r * z * SinPolynomial(z);
}
template <class T>
CHAINERX_INLINE T CosReduced(T z) {
    return (T{1} - T(0.5) * z) + z * z * CosPolynomial(z);
}

// x = n pi / 2 + r, for |x| <= kTrigMax
CHAINERX_INLINE float ReduceTrig(float x, int32_t* n) {
    Rounded<float> rounded = Round(x * 0.636619772F);
    *n = rounded.integer;
#ifdef __FMA__
    float r = __builtin_fmaf(-rounded.value, Format<float>::kHalfPiHigh, x);
    r = __builtin_fmaf(-rounded.value, Format<float>::kHalfPiLow, r);
    return __builtin_fmaf(-rounded.value, Format<float>::kHalfPiLowest, r);
#else
    double value = rounded.value;
    double r = x - value * 1.57079632673412561417;  // 33 bits: the product is exact
    return static_cast<float>(r - value * 6.07710050650619224932e-11);
#endif
}
CHAINERX_INLINE double ReduceTrig(double x, int64_t* n) {
    Rounded<double> rounded = Round(x * 0.63661977236758134);
    *n = rounded.integer;
#ifdef __FMA__
    double r = __builtin_fma(-rounded.value, Format<double>::kHalfPiHigh, x);
    r = __builtin_fma(-rounded.value, Format<double>::kHalfPiLow, r);
    return __builtin_fma(-rounded.value, Format<double>::kHalfPiLowest, r);
#else
    // Pieces of 33 bits: products with n are exact.
    double r = x - rounded.value * 1.57079632673412561417e+00;
    r = r - rounded.value * 6.07710050630396597660e-11;
    r = r - rounded.value * 2.02226624871116645580e-21;
    return r - rounded.value * 8.47842766036889956997e-32;
#endif
}

// Flips the sign of x where bit 1 of n is set.
template <class T>
CHAINERX_INLINE T FlipByBit1(T x, IntOf<T> n) {
    using U = std::make_unsigned_t<IntOf<T>>;
    U sign = (static_cast<U>(n) & 2U) << (sizeof(T) * 8 - 2);
    return FromBits(static_cast<IntOf<T>>(static_cast<U>(ToBits(x)) ^ sign));
}

}  // namespace chainerx::math
