#pragma once

// Scalar special functions in double precision. They are too long to be inlined into the loops of every instruction
// set, so the library has one of each; compilers for GPUs need the definitions.
#if defined(__CUDACC__)
#define CHAINERX_SPECIAL_FUNCTION inline __host__ __device__
#else
#define CHAINERX_SPECIAL_FUNCTION
#endif

namespace chainerx::math {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverRootPi = 1.12837916709551257390;

CHAINERX_SPECIAL_FUNCTION double ScaledErfc(double x);  // exp(x^2) erfc(x)
CHAINERX_SPECIAL_FUNCTION double LogNormalCdf(double x);
CHAINERX_SPECIAL_FUNCTION double ErfcInverse(double p);
CHAINERX_SPECIAL_FUNCTION double ErfInverse(double x);
CHAINERX_SPECIAL_FUNCTION double Digamma(double x);
// Hurwitz's zeta function, the sum of (q + k)^-s.
CHAINERX_SPECIAL_FUNCTION double Zeta(double s, double q);

}  // namespace chainerx::math

#if defined(__CUDACC__)
#include "chainerx/ops/special_math_impl.h"
#endif
