#pragma once

// The functions of elementary.h for compilers of GPUs, which have fast and precise versions of most. The formulas of
// the others neither overflow nor cancel unless their value does.

#include <cmath>
#include <limits>

#include "chainerx/core/macro.h"

namespace chainerx::math {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

#define CHAINERX_DEVICE_MATH(Name, function)                            \
    CHAINERX_HOST_DEVICE float Name(float x) { return function##f(x); } \
    CHAINERX_HOST_DEVICE double Name(double x) { return function(x); }
CHAINERX_DEVICE_MATH(Abs, ::fabs)
CHAINERX_DEVICE_MATH(Sqrt, ::sqrt)
CHAINERX_DEVICE_MATH(Exp, ::exp)
CHAINERX_DEVICE_MATH(Exp2, ::exp2)
CHAINERX_DEVICE_MATH(Expm1, ::expm1)
CHAINERX_DEVICE_MATH(Log, ::log)
CHAINERX_DEVICE_MATH(Log2, ::log2)
CHAINERX_DEVICE_MATH(Log10, ::log10)
CHAINERX_DEVICE_MATH(Log1p, ::log1p)
CHAINERX_DEVICE_MATH(Sin, ::sin)
CHAINERX_DEVICE_MATH(Cos, ::cos)
CHAINERX_DEVICE_MATH(Tan, ::tan)
CHAINERX_DEVICE_MATH(Asin, ::asin)
CHAINERX_DEVICE_MATH(Acos, ::acos)
CHAINERX_DEVICE_MATH(Atan, ::atan)
CHAINERX_DEVICE_MATH(Sinh, ::sinh)
CHAINERX_DEVICE_MATH(Cosh, ::cosh)
CHAINERX_DEVICE_MATH(Tanh, ::tanh)
CHAINERX_DEVICE_MATH(Asinh, ::asinh)
CHAINERX_DEVICE_MATH(Acosh, ::acosh)
CHAINERX_DEVICE_MATH(Atanh, ::atanh)
CHAINERX_DEVICE_MATH(Erf, ::erf)
CHAINERX_DEVICE_MATH(Erfc, ::erfc)
CHAINERX_DEVICE_MATH(NormalCdf, ::normcdf)
#undef CHAINERX_DEVICE_MATH

CHAINERX_HOST_DEVICE float Atan2(float y, float x) { return ::atan2f(y, x); }
CHAINERX_HOST_DEVICE double Atan2(double y, double x) { return ::atan2(y, x); }
CHAINERX_HOST_DEVICE float Pow(float x, float y) { return ::powf(x, y); }
CHAINERX_HOST_DEVICE double Pow(double x, double y) { return ::pow(x, y); }

template <class T>
CHAINERX_HOST_DEVICE T Select(bool condition, T yes, T no) {
    return condition ? yes : no;
}

// x Phi(x) with the normal distribution function Phi
template <class T>
CHAINERX_HOST_DEVICE T Gelu(T x) {
    return x == -kInfinity<T> ? T{-0.0} : x * NormalCdf(x);
}

// 1 / (1 + exp(-x))
template <class T>
CHAINERX_HOST_DEVICE T Sigmoid(T x) {
    T e = Exp(-Abs(x));
    return (x < T{0} ? e : T{1}) / (T{1} + e);
}

// x / (1 + exp(-x))
template <class T>
CHAINERX_HOST_DEVICE T Silu(T x) {
    // The root of exp(-|x|) is a normal number wherever the result is one.
    T root = Exp(T(-0.5) * Abs(x));
    T y = (x < T{0} ? x * root * root : x) / (T{1} + root * root);
    return x == -kInfinity<T> ? T{-0.0} : y;
}

// log(1 + exp(x))
template <class T>
CHAINERX_HOST_DEVICE T Softplus(T x) {
    return (x < T{0} ? T{0} : x) + Log1p(Exp(-Abs(x)));
}

}  // namespace chainerx::math
