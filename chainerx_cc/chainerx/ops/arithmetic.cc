#include "chainerx/ops/arithmetic.h"

#include <cmath>

#include "chainerx/core/operands.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/statistics.h"

namespace chainerx::ops {
namespace {

// The factor of a maximum's gradient: 1 where a > b, 1/2 where equal, 0 elsewhere.
Array WinnerWeight(const Array& a, const Array& b, Dtype dtype) {
    return Scalar{0.5} * (AsType(chainerx::Greater(a, b), dtype) + AsType(chainerx::GreaterEqual(a, b), dtype));
}

// The truncated or floored quotient that belongs to a remainder.
Array QuotientOf(const Array& x1, const Array& x2, const Array& remainder) { return (x1 - remainder) / x2; }

}  // namespace

Array Add::Grad0(const Array& gy) const { return gy; }
Array Add::Grad1(const Array& gy) const { return gy; }

Array Subtract::Grad0(const Array& gy) const { return gy; }
Array Subtract::Grad1(const Array& gy) const { return -gy; }

Array Multiply::Grad0(const Array& gy, In<1> x2) const { return gy * x2; }
Array Multiply::Grad1(const Array& gy, In<0> x1) const { return gy * x1; }

Array Divide::Grad0(const Array& gy, In<1> x2) const { return gy / x2; }
Array Divide::Grad1(const Array& gy, In<1> x2, Out y) const { return -(gy * y / x2); }

Array Remainder::Grad0(const Array& gy) const { return gy; }
Array Remainder::Grad1(const Array& gy, In<0> x1, In<1> x2) const {
    Array a = x1.AsDetached();
    Array b = x2.AsDetached();
    return -(gy * QuotientOf(a, b, chainerx::Remainder(a, b)));
}

Array Fmod::Grad0(const Array& gy) const { return gy; }
Array Fmod::Grad1(const Array& gy, In<0> x1, In<1> x2) const {
    Array a = x1.AsDetached();
    Array b = x2.AsDetached();
    return -(gy * QuotientOf(a, b, chainerx::Fmod(a, b)));
}

Array Power::Grad0(const Array& gy, In<0> x1, In<1> x2) const { return gy * x2 * chainerx::Power(x1, x2 - Scalar{1}); }
Array Power::Grad1(const Array& gy, In<0> x1, Out y) const {
    // 0^b is constant for positive b, although log 0 is not finite.
    return gy * y * chainerx::Log(chainerx::Where(chainerx::Equal(x1, Scalar{0}), Scalar{1}, x1));
}

Array Negative::Grad0(const Array& gy) const { return -gy; }

Array Reciprocal::Grad0(const Array& gy, Out y) const { return -(gy * y * y); }

Array Maximum::Grad0(const Array& gy, In<0> x1, In<1> x2) const { return gy * WinnerWeight(x1, x2, gy.dtype()); }
Array Maximum::Grad1(const Array& gy, In<0> x1, In<1> x2) const { return gy * WinnerWeight(x2, x1, gy.dtype()); }
Array Minimum::Grad0(const Array& gy, In<0> x1, In<1> x2) const { return gy * WinnerWeight(x2, x1, gy.dtype()); }
Array Minimum::Grad1(const Array& gy, In<0> x1, In<1> x2) const { return gy * WinnerWeight(x1, x2, gy.dtype()); }

Array Conjugate::Grad0(const Array& gy) const { return chainerx::Conj(gy); }

Array Where::Grad1(const Array& gy, In<0> c) const { return chainerx::Where(c, gy, Scalar{0}); }
Array Where::Grad2(const Array& gy, In<0> c) const { return chainerx::Where(c, Scalar{0}, gy); }

Array ClipBetween::Grad0(const Array& gy, In<0> x, In<1> lo, In<2> hi) const {
    Array inside = chainerx::LogicalAnd(chainerx::GreaterEqual(x, lo), chainerx::LessEqual(x, hi));
    return chainerx::Where(inside, gy, Scalar{0});
}

CHAINERX_ARITHMETIC_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops

namespace chainerx {

CHAINERX_METHOD_ROUTINE(Clip, "clip", "a, a_min, a_max", "_clip", R"(
Elementwise limits, :math:`\min(\max(a, a_{min}), a_{max})`.

Differentiable any number of times, with respect to limits that are arrays, too.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    a_min, a_max (~chainerx.ndarray, number or None): Lower and upper limit; one of them may be ``None``.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ValueError: If both limits are ``None``.
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> x = chainerx.array([-5., 0.5, 5.])
>>> chainerx.clip(x, -1, 1)
array([-1. ,  0.5,  1. ], shape=(3,), dtype=float64, device='native:0')
>>> x.clip(0, None)
array([0. , 0.5, 5. ], shape=(3,), dtype=float64, device='native:0')
)");
Array Clip(const Array& a, const std::optional<Operand>& a_min, const std::optional<Operand>& a_max) {
    if (!a_min.has_value() && !a_max.has_value()) throw ValueError{"clip: a_min and a_max must not both be None"};
    if (!a_max.has_value()) return Maximum(a, *a_min);
    if (!a_min.has_value()) return Minimum(a, *a_max);
    // Array bounds take part in the graph.
    if (a_min->is_array() || a_max->is_array()) return Minimum(Maximum(a, *a_min), *a_max);
    return ClipBetween(a, *a_min, *a_max);
}

CHAINERX_METHOD_ROUTINE(Round, "round", "a, decimals=0", "", R"(
Elements rounded to a number of decimals, :math:`10^{-d} \operatorname{rint}(10^d a)`; halves go to the even one.

Stops gradients: the derivative is zero. Also called ``around``. Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    decimals (int): Number of decimals; ``-1`` rounds to tens.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``a``.

>>> x = chainerx.array([0.5, 1.25, 2.675])
>>> chainerx.round(x)
array([0., 1., 3.], shape=(3,), dtype=float64, device='native:0')
>>> x.round(1)
array([0.5, 1.2, 2.7], shape=(3,), dtype=float64, device='native:0')
)");
Array Round(const Array& a, int64_t decimals) {
    Array x = a.AsDetached();
    if (IsComplex(x.dtype())) {
        Array out = Empty(x.shape(), x.dtype(), x.device());
        for (int part = 0; part < 2; ++part) CopyData(Round(PartView(x, part), decimals), PartView(out, part));
        return out;
    }
    if (!IsFloat(x.dtype()) && decimals >= 0) return Copy(x);
    if (decimals == 0) return Rint(x);
    Dtype wide = ToWideDtype(x.dtype());
    if (x.dtype() != wide) return AsType(Round(AsType(x, wide), decimals), x.dtype(), false);
    Scalar factor{std::pow(10.0, std::abs(static_cast<double>(decimals)))};
    return decimals > 0 ? Rint(x * factor) / factor : Rint(x / factor) * factor;
}

}  // namespace chainerx
