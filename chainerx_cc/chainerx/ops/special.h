#pragma once

#include <cmath>

#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/special_math.h"

namespace chainerx::ops {

struct Erfc : FloatMath<Erfc, 1> {
    CHAINERX_OP("erfc", "x", R"(Elementwise :math:`1 - \mathrm{erf}(x)`, precise where that is small.

>>> chainerx.erfc(chainerx.array([0., 1., 10.]))
array([1.00000000e+00, 1.57299207e-01, 2.08848758e-45], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Erfc(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Erfcx : FloatMath<Erfcx, 1> {
    CHAINERX_OP("erfcx", "x", R"(Elementwise scaled complementary error function :math:`e^{x^2} \mathrm{erfc}(x)`.

>>> chainerx.erfcx(chainerx.array([0., 1., 100.]))
array([1.        , 0.42758358, 0.00564161], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::ScaledErfc(x));
    }
    Array Grad0(const Array& gy, In<0> x, Out y) const;
};

struct Erfinv : FloatMath<Erfinv, 1> {
    CHAINERX_OP("erfinv", "x", R"(Elementwise inverse of the error function, for :math:`-1 \le x \le 1`.

>>> chainerx.erfinv(chainerx.array([-0.5, 0., 0.5]))
array([-0.47693628,  0.        ,  0.47693628], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::ErfInverse(x));
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Erfcinv : FloatMath<Erfcinv, 1> {
    CHAINERX_OP("erfcinv", "x", R"(Elementwise inverse of the complementary error function, for :math:`0 \le x \le 2`.

>>> chainerx.erfcinv(chainerx.array([0.5, 1., 1.5]))
array([ 0.47693628,  0.        , -0.47693628], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::ErfcInverse(x));
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Ndtr : FloatMath<Ndtr, 1> {
    CHAINERX_OP("ndtr", "x", R"(Elementwise distribution function :math:`\Phi(x)` of the standard normal distribution.

>>> chainerx.ndtr(chainerx.array([-1., 0., 1.]))
array([0.15865525, 0.5       , 0.84134475], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return T(0.5) * math::Erfc(static_cast<T>(-math::kSqrtHalf) * x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct LogNdtr : FloatMath<LogNdtr, 1> {
    CHAINERX_OP("log_ndtr", "x", R"(Elementwise :math:`\log \Phi(x)` of the standard normal distribution function,
precise for very negative values.

>>> chainerx.log_ndtr(chainerx.array([-20., 0.]))
array([-203.91715537,   -0.69314718], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::LogNormalCdf(x));
    }
    Array Grad0(const Array& gy, In<0> x, Out y) const;
};

struct Ndtri : FloatMath<Ndtri, 1> {
    CHAINERX_OP("ndtri", "x", R"(Elementwise inverse :math:`\Phi^{-1}(x)` of the standard normal distribution
function.

>>> chainerx.ndtri(chainerx.array([0.1, 0.25, 0.9]))
array([-1.28155157, -0.67448975,  1.28155157], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(-2 * math::kSqrtHalf * math::ErfcInverse(2. * x));
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Lgamma : FloatMath<Lgamma, 1> {
    CHAINERX_OP("lgamma", "x", R"(Elementwise logarithm :math:`\log |\Gamma(x)|` of the gamma function.

>>> chainerx.lgamma(chainerx.array([1., 3., 5.]))
array([0.        , 0.69314718, 3.17805383], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::lgamma(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Digamma : FloatMath<Digamma, 1> {
    CHAINERX_OP("digamma", "x", R"(Elementwise derivative of the logarithm of the gamma function.

>>> chainerx.digamma(chainerx.array([1., 3.]))
array([-0.57721566,  0.92278434], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return static_cast<T>(math::Digamma(x));
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Zeta : FloatMath<Zeta, 2> {
    CHAINERX_OP("zeta", "x, q", R"(Elementwise Hurwitz's zeta function :math:`\sum_{k=0}^\infty (q + k)^{-x}`.

>>> chainerx.zeta(chainerx.array([2., 3.]), 1.)
array([1.64493407, 1.2020569 ], shape=(2,), dtype=float64, device='native:0')
)")
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
