// Reductions without the elements that are not-a-number.

#include <limits>
#include <type_traits>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/statistics.h"

namespace chainerx {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Array ReplaceNan(const Array& a, double value) { return IsInexact(a.dtype()) ? Where(IsNan(a), Scalar{value}, a) : a; }

// The largest or smallest element; `lowest` never wins.
Array NanExtreme(Array (*extreme)(const Array&, const OptionalAxes&, bool), double lowest, const Array& a,
                 const OptionalAxes& axis, bool keepdims) {
    if (!IsFloat(a.dtype())) return extreme(a, axis, keepdims);
    Array out = extreme(ReplaceNan(a, lowest), axis, keepdims);
    return Where(All(IsNan(a), axis, keepdims), Scalar{kNan}, out);
}

// The mean over the places where `a` is a number; `x` is zero at the others.
Array NanMeanOf(const Array& x, const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Sum(x, axis, keepdims) / AsType(Sum(LogicalNot(IsNan(a)), axis, keepdims), x.dtype());
}

}  // namespace

CHAINERX_ROUTINE(NanProd, "nanprod", "a, axis=None, keepdims=False", "", R"(
Product of elements over axes, with NaN counted as one.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Products. A floating point dtype and uint64 are kept; other integers and booleans are
    multiplied in int64.

Raises:
    @axis_error

>>> chainerx.nanprod(chainerx.array([2., chainerx.nan, 3.]))
array(6., shape=(), dtype=float64, device='native:0')
)");
Array NanProd(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Prod(ReplaceNan(a, 1), axis, keepdims);
}

CHAINERX_ROUTINE(NanMean, "nanmean", "a, axis=None, keepdims=False", "", R"(
Arithmetic mean over axes, ignoring NaN.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Means, not-a-number where there are no other elements. A floating point dtype is kept;
    integers and booleans give float32.

Raises:
    @axis_error

>>> chainerx.nanmean(chainerx.array([1., chainerx.nan, 3.]))
array(2., shape=(), dtype=float64, device='native:0')
)");
Array NanMean(const Array& a, const OptionalAxes& axis, bool keepdims) {
    if (Dtype wide = ToWideDtype(a.dtype()); wide != a.dtype()) {
        return AsType(NanMean(AsType(a, wide), axis, keepdims), ToFloatDtype(a.dtype()));
    }
    return NanMeanOf(ReplaceNan(a, 0), a, axis, keepdims);
}

CHAINERX_ROUTINE(NanVar, "nanvar", "a, axis=None, keepdims=False", "", R"(
Variance over axes, ignoring NaN, without correction of its bias; see :func:`chainerx.var`.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Variances, not-a-number where there are no other elements. A floating point dtype is kept;
    integers and booleans give float32.

Raises:
    @axis_error

>>> chainerx.nanvar(chainerx.array([1., chainerx.nan, 3.]))
array(1., shape=(), dtype=float64, device='native:0')
)");
Array NanVar(const Array& a, const OptionalAxes& axis, bool keepdims) {
    if (Dtype wide = ToWideDtype(a.dtype()); wide != a.dtype()) {
        return AsType(NanVar(AsType(a, wide), axis, keepdims), ToFloatDtype(a.dtype()));
    }
    // Squares of not-a-number would have no gradient, not even none.
    Array centered = Where(IsNan(a), Scalar{0}, a - NanMean(a, axis, true));
    return NanMeanOf(Square(IsComplex(centered.dtype()) ? Absolute(centered) : centered), a, axis, keepdims);
}

CHAINERX_ROUTINE(NanStd, "nanstd", "a, axis=None, keepdims=False", "", R"(
Standard deviation over axes, ignoring NaN: the square root of :func:`chainerx.nanvar`.

Differentiable any number of times where it is not zero; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Standard deviations, not-a-number where there are no other elements. A floating point dtype is
    kept; integers and booleans give float32.

Raises:
    @axis_error

>>> chainerx.nanstd(chainerx.array([1., chainerx.nan, 3.]))
array(1., shape=(), dtype=float64, device='native:0')
)");
Array NanStd(const Array& a, const OptionalAxes& axis, bool keepdims) { return Sqrt(NanVar(a, axis, keepdims)); }

CHAINERX_ROUTINE(NanMax, "nanmax", "a, axis=None, keepdims=False", "", R"(
Largest element over axes, ignoring NaN.

Differentiable any number of times. Every element that attains the maximum gets the whole gradient.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Largest elements, of the dtype of ``a``; not-a-number where there are no others.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or an axis is out of range or given twice.

>>> chainerx.nanmax(chainerx.array([1., chainerx.nan, 3.]))
array(3., shape=(), dtype=float64, device='native:0')
)");
Array NanMax(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return NanExtreme(&AMax, -kInfinity, a, axis, keepdims);
}

CHAINERX_ROUTINE(NanMin, "nanmin", "a, axis=None, keepdims=False", "", R"(
Smallest element over axes, ignoring NaN.

Differentiable any number of times. Every element that attains the minimum gets the whole gradient.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Smallest elements, of the dtype of ``a``; not-a-number where there are no others.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or an axis is out of range or given twice.

>>> chainerx.nanmin(chainerx.array([1., chainerx.nan, 3.]))
array(1., shape=(), dtype=float64, device='native:0')
)");
Array NanMin(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return NanExtreme(&AMin, kInfinity, a, axis, keepdims);
}

CHAINERX_ROUTINE(NanCumsum, "nancumsum", "a, axis=None", "", R"(
Cumulative sum along an axis, with NaN counted as zero; see :func:`chainerx.cumsum`.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is summed unless given.

Returns:
    ~chainerx.ndarray: Sums, of the shape of ``a``, or one-dimensional without ``axis``. A floating point dtype and
    uint64 are kept; other integers and booleans are summed in int64.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.nancumsum(chainerx.array([1., chainerx.nan, 3.]))
array([1., 1., 4.], shape=(3,), dtype=float64, device='native:0')
)");
Array NanCumsum(const Array& a, const std::optional<int64_t>& axis) { return Cumsum(ReplaceNan(a, 0), axis); }

CHAINERX_ROUTINE(NanCumprod, "nancumprod", "a, axis=None", "", R"(
Cumulative product along an axis, with NaN counted as one; see :func:`chainerx.cumprod`.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is multiplied unless given.

Returns:
    ~chainerx.ndarray: Products, of the shape of ``a``, or one-dimensional without ``axis``. A floating point dtype
    and uint64 are kept; other integers and booleans are multiplied in int64.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.nancumprod(chainerx.array([2., chainerx.nan, 3.]))
array([2., 2., 6.], shape=(3,), dtype=float64, device='native:0')
)");
Array NanCumprod(const Array& a, const std::optional<int64_t>& axis) { return Cumprod(ReplaceNan(a, 1), axis); }

CHAINERX_ROUTINE(NanToNum, "nan_to_num", "x, copy=True, nan=0.0, posinf=None, neginf=None", "", R"(
Elements with numbers in place of NaN and infinity.

Differentiable any number of times; no gradient flows to elements that are replaced.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    copy (bool): Whether the result is another array. Otherwise ``x`` is changed in place.
    nan (float): Number in place of NaN.
    posinf, neginf (float or None): Numbers in place of positive and negative infinity; the largest and the smallest
        number of the dtype unless given.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``x``.

>>> chainerx.nan_to_num(chainerx.array([1., chainerx.nan, chainerx.inf]), posinf=9.)
array([1., 0., 9.], shape=(3,), dtype=float64, device='native:0')
)");
Array NanToNum(const Array& x, bool copy, double nan, const std::optional<double>& posinf,
               const std::optional<double>& neginf) {
    if (IsComplex(x.dtype())) ThrowComplex("nan_to_num", x.dtype());
    Array out = x;
    if (IsFloat(x.dtype())) {
        double largest = VisitFloatDtype(x.dtype(), [](auto tag) -> double {
            using T = typename decltype(tag)::type;
            if constexpr (std::is_same_v<T, Float16>) {
                return 65504;
            } else if constexpr (std::is_same_v<T, Bfloat16>) {
                return 0x1.fep127;
            } else {
                return std::numeric_limits<T>::max();
            }
        });
        out = ReplaceNan(out, nan);
        out = Where(Equal(x, Scalar{kInfinity}), Scalar{posinf.value_or(largest)}, out);
        out = Where(Equal(x, Scalar{-kInfinity}), Scalar{neginf.value_or(-largest)}, out);
    }
    if (copy) return out.body() == x.body() ? Copy(x) : out;
    if (out.body() != x.body()) CopyTo(x, out);
    return x;
}

}  // namespace chainerx
