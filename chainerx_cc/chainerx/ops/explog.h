#pragma once

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::ops {

struct Exp : FloatMath<Exp, 1, kComplexSet> {
    CHAINERX_OP("exp", "x", R"(Elementwise exponential :math:`e^x`.

>>> chainerx.exp(chainerx.array([0., 1., 2.]))
array([1.        , 2.71828183, 7.3890561 ], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Exp(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Exp2 : FloatMath<Exp2, 1, kComplexSet> {
    CHAINERX_OP("exp2", "x", R"(Elementwise power of two :math:`2^x`.

>>> chainerx.exp2(chainerx.array([0., 0.5, 3.]))
array([1.        , 1.41421356, 8.        ], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Exp2(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Expm1 : FloatMath<Expm1, 1, kComplexSet> {
    CHAINERX_OP("expm1", "x", R"(Elementwise :math:`e^x - 1`, precise near zero.

>>> chainerx.expm1(chainerx.array([0., 1e-10]))
array([0.e+00, 1.e-10], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Expm1(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Log : FloatMath<Log, 1, kComplexSet> {
    CHAINERX_OP("log", "x", R"(Elementwise natural logarithm :math:`\log x`.

>>> chainerx.log(chainerx.array([1., 2., 0.5]))
array([ 0.        ,  0.69314718, -0.69314718], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Log2 : FloatMath<Log2, 1, kComplexSet> {
    CHAINERX_OP("log2", "x", R"(Elementwise logarithm to the base 2.

>>> chainerx.log2(chainerx.array([1., 2., 0.5]))
array([ 0.,  1., -1.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log2(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Log10 : FloatMath<Log10, 1, kComplexSet> {
    CHAINERX_OP("log10", "x", R"(Elementwise logarithm to the base 10.

>>> chainerx.log10(chainerx.array([1., 10., 0.01]))
array([ 0.,  1., -2.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log10(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Log1p : FloatMath<Log1p, 1, kComplexSet> {
    CHAINERX_OP("log1p", "x", R"(Elementwise :math:`\log(1 + x)`, precise near zero.

>>> chainerx.log1p(chainerx.array([0., 1e-10]))
array([0.e+00, 1.e-10], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Log1p(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Sqrt : FloatMath<Sqrt, 1, kComplexSet> {
    CHAINERX_OP("sqrt", "x", R"(Elementwise square root :math:`\sqrt{x}`.

>>> chainerx.sqrt(chainerx.array([1., 2., 4.]))
array([1.        , 1.41421356, 2.        ], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::sqrt(x);
    }
    Array Grad0(const Array& gy, Out y) const;
};

struct Erf : FloatMath<Erf, 1> {
    CHAINERX_OP("erf", "x", R"(Elementwise Gauss error function :math:`\frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2} dt`.

>>> chainerx.erf(chainerx.array([-1., 0., 1.]))
array([-0.84270079,  0.        ,  0.84270079], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Erf(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Square : Arithmetic<Square, 1, kComplexSet> {
    CHAINERX_OP("square", "x", R"(Elementwise square :math:`x^2`.

>>> chainerx.square(chainerx.array([1., -2., 3.]))
array([1., 4., 9.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return Multiply{}.Forward(x, x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Absolute : AnyDtype<Absolute, 1> {
    CHAINERX_OP("absolute", "x", R"(Elementwise absolute value :math:`|x|`; also the function ``abs``. It is real for
complex numbers, too.

>>> chainerx.absolute(chainerx.array([1, -2, 3]))
array([1, 2, 3], shape=(3,), dtype=int64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Abs(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
    static Array Call(const Array& x);
};

struct Fabs : FloatMath<Fabs, 1> {
    CHAINERX_OP("fabs", "x", R"(Elementwise absolute value :math:`|x|`, always in floating point.

>>> chainerx.fabs(chainerx.array([1, -2, 3]))
array([1., 2., 3.], shape=(3,), dtype=float32, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return math::Abs(x);
    }
    Array Grad0(const Array& gy, In<0> x) const;
};

struct Sign : Arithmetic<Sign, 1, kComplexSet> {
    CHAINERX_OP("sign", "x", R"(Elementwise sign: -1, 0 or 1; of complex numbers :math:`x / |x|`, or 0.

>>> chainerx.sign(chainerx.array([1.5, 0., -3.]))
array([ 1.,  0., -1.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        if constexpr (kIsComplex<T>) {
            return math::Sign(x);
        } else if constexpr (std::is_floating_point_v<T>) {
            return x != x ? x : static_cast<T>((x > 0) - math::IsNegative(x));
        } else {
            return static_cast<T>((x > 0) - math::IsNegative(x));
        }
    }
};

struct Floor : FloatMath<Floor, 1> {
    CHAINERX_OP("floor", "x", R"(Elementwise rounding down, :math:`\lfloor x \rfloor`.

>>> chainerx.floor(chainerx.array([1.5, -1.5, 2.5]))
array([ 1., -2.,  2.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::floor(x);
    }
};

struct Ceil : FloatMath<Ceil, 1> {
    CHAINERX_OP("ceil", "x", R"(Elementwise rounding up, :math:`\lceil x \rceil`.

>>> chainerx.ceil(chainerx.array([1.5, -1.5, 2.5]))
array([ 2., -1.,  3.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::ceil(x);
    }
};

struct Trunc : FloatMath<Trunc, 1> {
    CHAINERX_OP("trunc", "x", R"(Elementwise rounding towards zero.

>>> chainerx.trunc(chainerx.array([1.5, -1.5, 2.5]))
array([ 1., -1.,  2.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::trunc(x);
    }
};

struct Rint : FloatMath<Rint, 1> {
    CHAINERX_OP("rint", "x", R"(Elementwise rounding to the nearest integer, halves to the even one.

>>> chainerx.rint(chainerx.array([1.5, -1.5, 2.5]))
array([ 2., -2.,  2.], shape=(3,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T x) const {
        return std::nearbyint(x);
    }
};

struct Copysign : FloatMath<Copysign, 2> {
    CHAINERX_OP("copysign", "x1, x2", R"(Elementwise magnitude of ``x1`` with the sign of ``x2``.

>>> chainerx.copysign(chainerx.array([1., -2.]), chainerx.array([-1., 1.]))
array([-1.,  2.], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return std::copysign(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
};

struct Signbit : Predicate<Signbit, 1> {
    CHAINERX_OP("signbit", "x", R"(True where the sign of an element is negative, also of zero.

>>> chainerx.signbit(chainerx.array([1., -2., -0.]))
array([False,  True,  True], shape=(3,), dtype=bool, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE bool Forward(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::signbit(x);
        } else {
            return math::IsNegative(x);
        }
    }
};

// Not of half precision, whose elements are computed as float32.
struct Nextafter : Elementwise<Nextafter, 2, DtypeRule::kFloat, SetOf(Dtype::kFloat32) | SetOf(Dtype::kFloat64)> {
    CHAINERX_OP("nextafter", "x1, x2", R"(Elementwise floating point number that follows ``x1`` in the direction of
``x2``.

>>> chainerx.nextafter(chainerx.array([1., 0.]), 2) - chainerx.array([1., 0.])
array([2.22044605e-016, 4.94065646e-324], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return std::nextafter(a, b);
    }
};

struct Hypot : FloatMath<Hypot, 2> {
    CHAINERX_OP("hypot", "x1, x2", R"(Elementwise length :math:`\sqrt{x_1^2 + x_2^2}` of the hypotenuse, without
overflow of the squares.

>>> chainerx.hypot(chainerx.array([3., 5.]), chainerx.array([4., 12.]))
array([ 5., 13.], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        return std::hypot(a, b);
    }
    Array Grad0(const Array& gy, In<0> x1, Out y) const;
    Array Grad1(const Array& gy, In<1> x2, Out y) const;
};

struct Logaddexp : FloatMath<Logaddexp, 2> {
    CHAINERX_OP("logaddexp", "x1, x2", R"(Elementwise :math:`\log(e^{x_1} + e^{x_2})`, without overflow.

>>> chainerx.logaddexp(chainerx.array([0., 1000.]), chainerx.array([0., 1000.]))
array([6.93147181e-01, 1.00069315e+03], shape=(2,), dtype=float64, device='native:0')
)")
    template <class T>
    CHAINERX_HOST_DEVICE T Forward(T a, T b) const {
        T different = math::Max(a, b) + math::Log1p(math::Exp(-math::Abs(a - b)));
        return math::Select(a == b, a + T{0.69314718055994530942}, different);  // also of infinite ones
    }
    Array Grad0(const Array& gy, In<0> x1, In<1> x2) const;
    Array Grad1(const Array& gy, In<0> x1, In<1> x2) const;
};

#define CHAINERX_EXPLOG_OPS(X) \
    X(Exp)                     \
    X(Exp2)                    \
    X(Expm1)                   \
    X(Log)                     \
    X(Log2)                    \
    X(Log10)                   \
    X(Log1p)                   \
    X(Sqrt)                    \
    X(Erf)                     \
    X(Square)                  \
    X(Absolute)                \
    X(Fabs)                    \
    X(Sign)                    \
    X(Floor)                   \
    X(Ceil)                    \
    X(Trunc)                   \
    X(Rint)                    \
    X(Copysign)                \
    X(Signbit)                 \
    X(Nextafter)               \
    X(Hypot)                   \
    X(Logaddexp)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_EXPLOG_OPS(CHAINERX_DEFINE_FUNCTION)

}  // namespace chainerx
