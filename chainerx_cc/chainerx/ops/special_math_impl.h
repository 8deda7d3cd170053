#pragma once

// The definitions of special_math.h. Sources: Abramowitz and Stegun, Handbook of Mathematical Functions, whose formulas
// are named below by their numbers.

#include <cmath>
#include <limits>

#include "chainerx/ops/special_math.h"

namespace chainerx::math {

constexpr double kPi = 3.14159265358979323846;
constexpr double kOneOverRootPi = 0.56418958354775628695;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The inverse of erf at x with a relative error of 1e-6, by w = -log(1 - x^2) < 16. Polynomials of Giles,
// Approximating the erfinv function, GPU Computing Gems, 2011.
CHAINERX_SPECIAL_FUNCTION double ApproximateErfInverse(double x, double w) {
    constexpr double kCentral[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    bool central = w < 5;
    double z = central ? w - 2.5 : std::sqrt(w) - 3;
    double y = 0;
    // A pointer to one of the tables would bring both into local memory of GPUs.
    for (int i = 0; i < 9; ++i) y = (central ? kCentral[i] : kTail[i]) + y * z;
    return y * x;
}

// The y with erf(y) = x, where x is not close to one: a step of Halley's method.
CHAINERX_SPECIAL_FUNCTION double SmallErfInverse(double x) {
    double y = ApproximateErfInverse(x, -std::log1p(-x * x));
    double error = (std::erf(y) - x) / (kTwoOverRootPi * std::exp(-y * y));
    return y - error / (1 + y * error);
}

CHAINERX_SPECIAL_FUNCTION double ScaledErfc(double x) {
    if (x < 0) return x < -27 ? kInfinite : 2 * std::exp(x * x) - ScaledErfc(-x);
    if (x < 2) return std::exp(x * x) * std::erfc(x);
    if (x > 1e7) return kOneOverRootPi / x;
    // 7.1.14: a continued fraction, from its end; far out few terms are enough.
    double y = x;
    for (int k = x > 6 ? 24 : 120; k > 0; --k) y = x + 0.5 * k / y;
    return kOneOverRootPi / y;
}

CHAINERX_SPECIAL_FUNCTION double LogNormalCdf(double x) {
    double t = x * kSqrtHalf;
    return t < -1 ? std::log(0.5 * ScaledErfc(-t)) - t * t : std::log1p(-0.5 * std::erfc(t));
}

CHAINERX_SPECIAL_FUNCTION double ErfcInverse(double p) {
    if (!(p >= 0 && p <= 2)) return kNotANumber;
    if (p == 0) return kInfinite;
    if (p == 2) return -kInfinite;
    if (p > 0.5 && p < 1.5) return SmallErfInverse(1 - p);
    if (p > 1) return -ErfcInverse(2 - p);
    if (p > 1e-6) {
        double y = ApproximateErfInverse(1 - p, -std::log(p * (2 - p)));
        double error = (std::erfc(y) - p) / (kTwoOverRootPi * std::exp(-y * y));
        return y + error / (1 - y * error);
    }
    // 26.2.23, then Newton's method for log(erfc(y)) = log(p), which also works where erfc is tiny.
    double t = std::sqrt(-2 * std::log(0.5 * p));
    double y = kSqrtHalf *
               (t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int i = 0; i < 3; ++i) {
        double scaled = ScaledErfc(y);
        y += (std::log(scaled / p) - y * y) * scaled / kTwoOverRootPi;
    }
    return y;
}

CHAINERX_SPECIAL_FUNCTION double ErfInverse(double x) {
    return std::fabs(x) < 0.5 ? SmallErfInverse(x) : std::copysign(ErfcInverse(1 - std::fabs(x)), x);
}

CHAINERX_SPECIAL_FUNCTION double Digamma(double x) {
    if (x == 0) return std::copysign(kInfinite, -x);
    double y = 0;
    if (x < 0) {
        double whole = std::nearbyint(x);
        if (x == whole) return kNotANumber;
        // 6.3.7: reflection; only the distance from an integer matters to the tangent.
        y = -kPi / std::tan(kPi * (x - whole));
        x = 1 - x;
    }
    // 6.3.5: up to where the series converges, 6.3.18.
    for (; x < 12; x += 1) y -= 1 / x;
    double z = 1 / (x * x);
    double series =
            z * (1. / 12 - z * (1. / 120 -
                                z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z * (1. / 12)))))));
    return y + std::log(x) - 0.5 / x - series;
}

// The first terms, and the rest by Euler and Maclaurin, 23.1.30.
CHAINERX_SPECIAL_FUNCTION double Zeta(double s, double q) {
    // B_2j / (2j)!
    constexpr double kCoefficients[] = {1. / 12,
                                        -1. / 720,
                                        1. / 30240,
                                        -1. / 1209600,
                                        1. / 47900160,
                                        -691. / 1307674368000,
                                        1. / 74724249600,
                                        -3617. / 10670622842880000,
                                        43867. / 5109094217170944000};
    if (!(s >= 1)) return kNotANumber;
    if (s == 1) return kInfinite;
    if (q != q) return kNotANumber;
    if (q <= 0) {
        if (q == std::floor(q)) return kInfinite;
        if (s != std::floor(s)) return kNotANumber;
        // The terms of negative base, from the last one on, are those of two other sums.
        double n = std::floor(-q) + 1;
        double negative = Zeta(s, 1 - q - n) - Zeta(s, 1 - q);
        return Zeta(s, q + n) + (std::fmod(s, 2.) == 0 ? negative : -negative);
    }
    double sum = 0;
    for (int k = 0; k < 10; ++k, q += 1) {
        double term = std::pow(q, -s);
        sum += term;
        if (term < sum * 1e-17) return sum;
    }
    double power = std::pow(q, -s);
    sum += power * q / (s - 1) + 0.5 * power;
    double factor = s * power / q;
    for (int j = 0; j < 9; ++j) {
        double term = kCoefficients[j] * factor;
        sum += term;
        if (std::fabs(term) < std::fabs(sum) * 1e-17) break;
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / (q * q);
    }
    return sum;
}

}  // namespace chainerx::math
