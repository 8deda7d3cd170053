#pragma once

#include <cmath>

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/special_math.h"

namespace chainerx::ops {

struct Erfc : FloatMath<Erfc, 1> {
    CHAINERX_OP("erfc", "x", "One minus the error function, precise where that is small, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Erfc(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Erfcx : FloatMath<Erfcx, 1> {
    CHAINERX_OP("erfcx", "x", "Scaled complementary error function :math:`e^{x^2} \\mathrm{erfc}(x)`, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::ScaledErfc(x));
    }
    Array Grad0(const Array& gy, In<0> x, Out y) const;
};

struct Erfinv : FloatMath<Erfinv, 1> {
    CHAINERX_OP("erfinv", "x", "Inverse of the error function, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::ErfInverse(x));
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Erfcinv : FloatMath<Erfcinv, 1> {
    CHAINERX_OP("erfcinv", "x", "Inverse of the complementary error function, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::ErfcInverse(x));
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Ndtr : FloatMath<Ndtr, 1> {
    CHAINERX_OP("ndtr", "x", "Distribution function of the standard normal distribution, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return T(0.5) * math::Erfc(static_cast<T>(-math::kSqrtHalf) * x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct LogNdtr : FloatMath<LogNdtr, 1> {
    CHAINERX_OP("log_ndtr", "x", "Logarithm of the standard normal distribution function, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::LogNormalCdf(x));
    }
    Array Grad0(const Array& gy, In<0> x, Out y) const;
};

struct Ndtri : FloatMath<Ndtri, 1> {
    CHAINERX_OP("ndtri", "x", "Inverse of the standard normal distribution function, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(-2 * math::kSqrtHalf * math::ErfcInverse(2. * x));
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Lgamma : FloatMath<Lgamma, 1> {
    CHAINERX_OP("lgamma", "x", "Logarithm of the absolute value of the gamma function, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::lgamma(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Digamma : FloatMath<Digamma, 1> {
    CHAINERX_OP("digamma", "x", "Derivative of the logarithm of the gamma function, elementwise.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::Digamma(x));
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Zeta : FloatMath<Zeta, 2> {
    CHAINERX_OP("zeta", "x, q",
                "Hurwitz's zeta function :math:`\\sum_k (q + k)^{-x}`, elementwise. Only ``q`` has a gradient.")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x, T q) const {
        return static_cast<T>(math::Zeta(x, q));
    }
    Array Grad1(const Array& gy, In<0> x, In<1> q) const;
};

#define CHAINERX_SPECIAL_OPS(X) \
    X(Erfc)                     \
    X(Erfcx)                    \
    X(Erfinv)                   \
    X(Erfcinv)                  \
    X(Ndtr)                     \
    X(LogNdtr)                  \
    X(Ndtri)                    \
    X(Lgamma)                   \
    X(Digamma)                  \
    X(Zeta)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_SPECIAL_OPS(CHAINERX_DEFINE_FUNCTION)

}  // namespace chainerx
