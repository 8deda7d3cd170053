#pragma once

// Elementary functions for float and double, inline and without branches, tables or calls, so that the
// compiler vectorizes loops over them for any instruction set. They round to nearest within 4 units in the
// last place of float and a few of double (the native backend's math_test.cc has the figures), special values
// included. These are for compilers of processors; math/device.h is the same for those of GPUs.
//
// Sources that use them need -O3 -fno-math-errno -fno-trapping-math, and not -ffast-math. With
// -fno-thread-jumps GCC makes faster loops: otherwise it copies code for the constants of clamps and selects.
//
// SinBounded, CosBounded and TanBounded are right up to |x| <= kTrigMax (71476 for float, 2^20 for double): a loop
// computes a block, and where TrigNeedsSlowPath(x) held for some x of the block, goes over it again with Sin, Cos or
// Tan, which take any argument and do not vectorize. Pow, in pow.h, is fast with the FMA instruction only: without it,
// that of double is the C library's.

#include "chainerx/math/float_parts.h"
#include "chainerx/math/pow.h"

namespace chainerx::math {

// ------------------------------------------------------------------ exponentials

template <class T>
CHAINERX_INLINE T Exp(T x) {
    IntOf<T> n;
    T clamped = AtLeast(AtMost(x, Format<T>::kExpMax), Format<T>::kExpMin);
    T p = Expm1Reduced(ReduceExp(clamped, &n));
    return Scale(T{1} + p, n);
}

template <class T>
CHAINERX_INLINE T Exp2(T x) {
    constexpr T kMax = Format<T>::kBias + 1;
    constexpr T kMin = -(Format<T>::kBias + Format<T>::kMantissaBits + 2);
    T clamped = AtLeast(AtMost(x, kMax), kMin);
    Rounded<T> rounded = Round(clamped);
    T r = clamped - rounded.value;
    return Scale(T{1} + r * Exp2Polynomial(r), rounded.integer);
}

// exp(x) - 1
template <class T>
CHAINERX_INLINE T Expm1(T x) {
    T clamped = AtLeast(AtMost(x, Format<T>::kExpMax), Format<T>::kExpm1Min);
    T y = T{2} * Expm1Shifted(clamped, 1);
    return Abs(x) < T(1e-20) ? x : y;
}

// ------------------------------------------------------------------ logarithms

// log(x) = e log(2) + log(1 + f). x > 0, denormal or not.
template <class T>
struct LogParts {
    T e;
    T f;
};

template <class T>
CHAINERX_INLINE LogParts<T> SplitLogNormal(T x) {
    IntOf<T> e;
    T f = ReduceLog(x, &e);
    return {FromInteger(e), f};
}
template <class T>
CHAINERX_INLINE LogParts<T> SplitLog(T x) {
    using F = Format<T>;
    bool tiny = x < std::numeric_limits<T>::min();
    LogParts<T> parts = SplitLogNormal(tiny ? x * static_cast<T>(IntOf<T>{1} << F::kMantissaBits) : x);
    return {tiny ? parts.e - T(F::kMantissaBits) : parts.e, parts.f};
}

// The value y of a logarithm at x, or its special value.
template <class T>
CHAINERX_INLINE T FinishLog(T x, T y) {
    y = x < kInfinity<T> ? y : x;
    T special = x < T{0} ? kNaN<T> : -kInfinity<T>;
    return x <= T{0} ? special : y;
}

template <class T>
CHAINERX_INLINE T LogOf(LogParts<T> parts) {
    T y = parts.f - (LogTail(parts.f) - parts.e * Format<T>::kLn2Low);
    return parts.e * Format<T>::kLn2High + y;
}

CHAINERX_INLINE float Log2Of(LogParts<float> parts) { return parts.e + parts.f * Log2Polynomial(parts.f); }
CHAINERX_INLINE double Log2Of(LogParts<double> parts) {
    return parts.e + (parts.f - LogTail(parts.f)) * 1.4426950408889634;
}

CHAINERX_INLINE float Log10Of(LogParts<float> parts) {
    return parts.e * 0.301029996F + parts.f * Log10Polynomial(parts.f);
}
CHAINERX_INLINE double Log10Of(LogParts<double> parts) {
    double y = (parts.f - LogTail(parts.f)) * 0.43429448190325183 + parts.e * 3.69423907715893078616e-13;
    return parts.e * 3.01029995663611771306e-01 + y;
}

template <class T>
CHAINERX_INLINE T Log(T x) {
    return FinishLog(x, LogOf(SplitLog(x)));
}
template <class T>
CHAINERX_INLINE T Log2(T x) {
    return FinishLog(x, Log2Of(SplitLog(x)));
}
template <class T>
CHAINERX_INLINE T Log10(T x) {
    return FinishLog(x, Log10Of(SplitLog(x)));
}

// For loops over numbers that are all positive, normal and finite.
template <class T>
CHAINERX_INLINE T LogNormal(T x) {
    return LogOf(SplitLogNormal(x));
}
template <class T>
CHAINERX_INLINE T Log2Normal(T x) {
    return Log2Of(SplitLogNormal(x));
}
template <class T>
CHAINERX_INLINE T Log10Normal(T x) {
    return Log10Of(SplitLogNormal(x));
}

// log(1 + x) for -1 < x < infinity
template <class T>
CHAINERX_INLINE T Log1pFinite(T x) {
    using F = Format<T>;
    IntOf<T> e;
    T f = ReduceLog(T{1} + x, &e);
    // 1 + f = (1 + x) 2^-e without the rounding of 1 + x; that does not matter once x is large.
    bool large = x > static_cast<T>(IntOf<T>{1} << F::kMantissaBits);
    T scale = PowerOfTwo<T>(large ? 0 : -e);
    T exact = scale * x + (scale - T{1});
    f = large ? f : exact;
    T value = FromInteger(e);
    return value * F::kLn2High + (f - (LogTail(f) - value * F::kLn2Low));
}

// log(1 + x)
template <class T>
CHAINERX_INLINE T Log1p(T x) {
    T y = FinishLog(T{1} + x, Log1pFinite(x));
    return Abs(x) < T(1e-20) ? x : y;
}

// ------------------------------------------------------------------ trigonometric functions

template <class T>
CHAINERX_INLINE bool TrigNeedsSlowPath(T x) {
    return Abs(x) > Format<T>::kTrigMax;
}

template <class T>
CHAINERX_INLINE T SinBounded(T x) {
    IntOf<T> n;
    T r = ReduceTrig(x, &n);
    T z = r * r;
    T sin = SinReduced(r, z);
    T cos = CosReduced(z);
    T y = FlipByBit1((n & 1) != 0 ? cos : sin, n);
    return x == T{0} ? x : y;
}

template <class T>
CHAINERX_INLINE T CosBounded(T x) {
    IntOf<T> n;
    T r = ReduceTrig(x, &n);
    T z = r * r;
    T sin = SinReduced(r, z);
    T cos = CosReduced(z);
    return FlipByBit1((n & 1) != 0 ? sin : cos, WrapAdd(n, IntOf<T>{1}));
}

template <class T>
CHAINERX_INLINE T TanBounded(T x) {
    IntOf<T> n;
    T r = ReduceTrig(x, &n);
    T z = r * r;
    T sin = SinReduced(r, z);
    T cos = CosReduced(z);
    bool odd = (n & 1) != 0;
    T y = (odd ? cos : sin) / (odd ? -sin : cos);
    return x == T{0} ? x : y;
}

CHAINERX_INLINE float Sin(float x) { return TrigNeedsSlowPath(x) ? __builtin_sinf(x) : SinBounded(x); }
CHAINERX_INLINE double Sin(double x) { return TrigNeedsSlowPath(x) ? __builtin_sin(x) : SinBounded(x); }
CHAINERX_INLINE float Cos(float x) { return TrigNeedsSlowPath(x) ? __builtin_cosf(x) : CosBounded(x); }
CHAINERX_INLINE double Cos(double x) { return TrigNeedsSlowPath(x) ? __builtin_cos(x) : CosBounded(x); }
CHAINERX_INLINE float Tan(float x) { return TrigNeedsSlowPath(x) ? __builtin_tanf(x) : TanBounded(x); }
CHAINERX_INLINE double Tan(double x) { return TrigNeedsSlowPath(x) ? __builtin_tan(x) : TanBounded(x); }

// asin(s) for 0 <= s <= 1/2, z = s^2
template <class T>
CHAINERX_INLINE T AsinReduced(T s, T z) {
    return s + s * z * AsinPolynomial(z);
}

template <class T>
CHAINERX_INLINE T Asin(T x) {
    using F = Format<T>;
    T a = Abs(x);
    bool large = a > T(0.5);
    // asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2))
    T z = large ? (T{1} - a) * T(0.5) : a * a;
    T s = large ? Sqrt(z) : a;
    T y = AsinReduced(s, z);
    T complement = F::kHalfPiHigh - (T{2} * y - F::kHalfPiLow);
    return CopySign(large ? complement : y, x);
}

template <class T>
CHAINERX_INLINE T Acos(T x) {
    using F = Format<T>;
    T a = Abs(x);
    bool large = a > T(0.5);
    T z = large ? (T{1} - a) * T(0.5) : a * a;
    T s = large ? Sqrt(z) : a;
    T y = AsinReduced(s, z);
    T at_large = x > T{0} ? T{2} * y : T{2} * (F::kHalfPiHigh - (y - F::kHalfPiLow));
    T at_small = F::kHalfPiHigh - (CopySign(y, x) - F::kHalfPiLow);
    return large ? at_large : at_small;
}

// atan(t) for |t| <= tan(pi / 8)
template <class T>
CHAINERX_INLINE T AtanReduced(T t) {
    T z = t * t;
    return t + t * z * AtanPolynomial(z);
}

template <class T>
CHAINERX_INLINE T Atan(T x) {
    using F = Format<T>;
    T a = Abs(x);
    bool large = a > T(2.414213562373095);     // tan(3 pi / 8): pi / 2 + atan(-1 / a)
    bool middle = a > T(0.41421356237309503);  // tan(pi / 8): pi / 4 + atan((a - 1) / (a + 1))
    T numerator = large ? T{-1} : (middle ? a - T{1} : a);
    T denominator = large ? a : (middle ? a + T{1} : T{1});
    T y = AtanReduced(numerator / denominator);
    T base = large ? F::kHalfPiHigh : (middle ? F::kHalfPiHigh * T(0.5) : T{0});
    T base_low = large ? F::kHalfPiLow : (middle ? F::kHalfPiLow * T(0.5) : T{0});
    return CopySign(base + (y + base_low), x);
}

// The angle of the point (x, y), in [-pi, pi].
template <class T>
CHAINERX_INLINE T Atan2(T y, T x) {
    using F = Format<T>;
    T ax = Abs(x);
    T ay = Abs(y);
    bool swap = ay > ax;
    T low = swap ? ax : ay;
    T high = swap ? ay : ax;
    // Two infinities are as one and one; both zero are as zero and one. Huge values must not overflow a sum.
    T factor = high > std::numeric_limits<T>::max() / T{4} ? T(0.25) : T{1};
    T scaled = low * factor;
    T high_scaled = low == kInfinity<T> ? T{1} : high * factor;
    low = low == kInfinity<T> ? T{1} : scaled;
    high = high == T{0} ? T{1} : high_scaled;
    bool middle = low > high * T(0.41421356237309503);
    T t = (middle ? low - high : low) / (middle ? low + high : high);
    T angle = AtanReduced(t);  // plus pi / 4 where middle: in [0, pi / 4]
    angle = middle ? F::kHalfPiHigh * T(0.5) + (angle + F::kHalfPiLow * T(0.5)) : angle;
    T swapped = F::kHalfPiHigh - (angle - F::kHalfPiLow);
    angle = swap ? swapped : angle;
    T left = T{2} * F::kHalfPiHigh - (angle - T{2} * F::kHalfPiLow);
    angle = ToBits(x) < 0 ? left : angle;
    angle = CopySign(angle, y);
    angle = x == x ? angle : x;
    return y == y ? angle : y;
}

// ------------------------------------------------------------------ hyperbolic functions

template <class T>
CHAINERX_INLINE T Sinh(T x) {
    T a = AtMost(Abs(x), Format<T>::kSinhMax);
    T e = Expm1Shifted(a, 4);  // (exp(a) - 1) / 16, which does not overflow
    T y = T{8} * (e + e / (T{16} * e + T{1}));
    y = a < T(1e-10) ? a : y;
    return CopySign(y, x);
}

template <class T>
CHAINERX_INLINE T Cosh(T x) {
    T a = AtMost(Abs(x), Format<T>::kSinhMax);
    IntOf<T> n;
    T p = Expm1Reduced(ReduceExp(a, &n));
    T e = (T{1} + p) * PowerOfTwo<T>(WrapSubtract(n, IntOf<T>{4}));  // exp(a) / 16
    return T{8} * e + T(0.03125) / e;
}

template <class T>
CHAINERX_INLINE T Tanh(T x) {
    T a = AtMost(Abs(x), Format<T>::kTanhMax);
    T e = Expm1Shifted(T{2} * a, 1);  // (exp(2 a) - 1) / 2
    T y = e / (e + T{1});
    y = a < T(1e-10) ? a : y;
    return CopySign(y, x);
}

template <class T>
CHAINERX_INLINE T Asinh(T x) {
    T a = Abs(x);
    bool large = a > Format<T>::kSquareMax;
    T square = a * a;
    T argument = large ? a : a + square / (T{1} + Sqrt(T{1} + square));
    T y = Log1pFinite(argument);
    y = large ? y + T(0.6931471805599453) : y;
    y = a < T(1e-10) ? a : y;
    return CopySign(a < kInfinity<T> ? y : a, x);
}

template <class T>
CHAINERX_INLINE T Acosh(T x) {
    bool large = x > Format<T>::kSquareMax;
    T t = x - T{1};
    T y = Log1pFinite(large ? x : t + Sqrt(t * (x + T{1})));
    y = large ? y + T(0.6931471805599453) : y;
    y = x < kInfinity<T> ? y : x;
    return x < T{1} ? kNaN<T> : y;
}

template <class T>
CHAINERX_INLINE T Atanh(T x) {
    T a = Abs(x);
    T y = T(0.5) * Log1pFinite(T{2} * a / (T{1} - a));
    y = a < T(1e-10) ? a : y;
    y = a < T{1} ? y : (a == T{1} ? kInfinity<T> : kNaN<T>);
    return CopySign(y, x);
}

// ------------------------------------------------------------------ error function and friends

// exp(-factor a^2), without the scale 2^n, for a factor of 1 or 1/2
template <class T>
CHAINERX_INLINE T ExpOfSquare(T a, T factor, IntOf<T>* n) {
    // The square in two parts: a rounded to half its bits has an exact square.
    constexpr IntOf<T> kMask = ~((IntOf<T>{1} << (Format<T>::kMantissaBits / 2 + 1)) - 1);
    T rounded = FromBits(ToBits(a) & kMask);
    T rest = factor * (a - rounded) * (a + rounded);
    return T{1} + Expm1Reduced(ReduceExp(-factor * rounded * rounded, n) - rest);
}

template <class T>
CHAINERX_INLINE T Erfc(T x) {
    T a = AtMost(Abs(x), Format<T>::kErfcMax);
    IntOf<T> n;
    T power = ExpOfSquare(a, T{1}, &n);
    T y = Scale(power * (ErfcxPolynomial((a - T{4}) / (a + T{4})) / (T{1} + T{2} * a)), n);
    y = x < T{0} ? T{2} - y : y;
    T near_zero = T{1} - x * ErfPolynomial(a * a);
    return a < T(0.5) ? near_zero : y;
}

template <class T>
CHAINERX_INLINE T Erf(T x) {
    T a = Abs(x);
    T small = x * ErfPolynomial(a * a);
    T large = CopySign(T{1} - Erfc(a), x);
    return a < T{1} ? small : large;
}

// x Phi(x) with the normal distribution function Phi
template <class T>
CHAINERX_INLINE T Gelu(T x) {
    T a = AtMost(Abs(x), T(1.5) * Format<T>::kErfcMax);
    IntOf<T> n;
    T power = ExpOfSquare(a, T(0.5), &n);
    T inverse = T{1} / (a + Format<T>::kMills);
    T negative = Scale(-a * (MillsPolynomial(a * inverse) * inverse) * power, n);  // -a Phi(-a)
    return CopySign((x > T{0} ? x : T{0}) + negative, x);
}

// 1 / (1 + exp(-x))
template <class T>
CHAINERX_INLINE T Sigmoid(T x) {
    T e = Exp(-Abs(x));
    return (x < T{0} ? e : T{1}) / (T{1} + e);
}

// x / (1 + exp(-x))
template <class T>
CHAINERX_INLINE T Silu(T x) {
    T a = Abs(x);
    T clamped = AtMost(a, -Format<T>::kExpMin + T{10});
    IntOf<T> n;
    T power = T{1} + Expm1Reduced(ReduceExp(-clamped, &n));  // exp(-a) / 2^n
    T y = clamped / (T{1} + Scale(power, n));
    T negative = Scale(y * power, n);
    T positive = a > clamped ? a : y;
    return CopySign(x < T{0} ? negative : positive, x);
}

// log(1 + exp(x))
template <class T>
CHAINERX_INLINE T Softplus(T x) {
    T e = Exp(-Abs(x));
    T y = Log1pFinite(e);
    return (x < T{0} ? T{0} : x) + (e < T(1e-20) ? e : y);
}

template <class T>
CHAINERX_INLINE T Rsqrt(T x) {
    return T{1} / Sqrt(x);
}

}  // namespace chainerx::math
