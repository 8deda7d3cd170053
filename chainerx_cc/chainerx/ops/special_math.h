#pragma once

// Scalar special functions in double precision. They are too long to be inlined into the loops of every instruction
// set.

namespace chainerx::math {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverRootPi = 1.12837916709551257390;

double ScaledErfc(double x);  // exp(x^2) erfc(x)
double LogNormalCdf(double x);
double ErfcInverse(double p);
double ErfInverse(double x);
double Digamma(double x);
// Hurwitz's zeta function, the sum of (q + k)^-s.
double Zeta(double s, double q);

}  // namespace chainerx::math
