// Medians, percentiles and quantiles.

#include <algorithm>
#include <cmath>
#include <limits>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/sorting.h"
#include "chainerx/ops/statistics.h"

namespace chainerx {
namespace {

enum class Nan { kWins, kIgnored };

// A matrix with a row for each result and the elements to reduce as columns.
Array ToRows(const Array& a, const Axes& axes, const Shape& kept) {
    Axes order;
    int64_t n = 1;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
    }
    for (int8_t i : axes) {
        order.push_back(i);
        n *= a.shape()[i];
    }
    return Reshape(Transpose(a, order), Shape{kept.GetTotalSize(), n});
}

// The quantiles of each row of sorted rows, as the columns of the result. `counts`: the numbers of elements.
Array Interpolate(const Array& sorted, const Array& counts, const Array& q, QuantileMethod method) {
    Array position = Maximum(q * AsType(counts - Scalar{1}, Dtype::kFloat64), Scalar{0});
    Array lower = Floor(position);
    Array upper = Ceil(position);
    Array weight = position - lower;
    if (method == QuantileMethod::kNearest) lower = Rint(position);
    if (method == QuantileMethod::kHigher) lower = upper;
    if (method == QuantileMethod::kMidpoint) weight = (upper - lower) * Scalar{0.5};
    int64_t n = sorted.shape()[1];
    Array start = Reshape(Arange(Scalar{0}, Scalar{sorted.GetTotalSize()}, Scalar{n}, Dtype::kInt64, sorted.device()),
                          Shape{sorted.shape()[0], 1});
    auto at = [&](const Array& column) { return Take(sorted, start + AsType(column, Dtype::kInt64)); };
    Array low = at(lower);
    if (method != QuantileMethod::kLinear && method != QuantileMethod::kMidpoint) return low;
    Array high = at(upper);
    weight = AsType(weight, sorted.dtype());
    // Equal ones may be infinite, and stay as they are.
    return Where(Equal(low, high), low, low * (Scalar{1} - weight) + high * weight);
}

// `q`: from 0 to 1.
Array QuantilesOf(const Array& a, const Numbers& q, const OptionalAxes& axis, QuantileMethod method, bool keepdims,
                  Nan nan) {
    if (Dtype wide = ToWideDtype(a.dtype()); wide != a.dtype()) {
        return AsType(QuantilesOf(AsType(a, wide), q, axis, method, keepdims, nan), ToFloatDtype(a.dtype()));
    }
    Axes axes = NormalizeAxes(axis, a.ndim());
    Array rows = ToRows(a, axes, ReduceShape(a.shape(), axes, false));
    auto n_quantiles = static_cast<int64_t>(q.values.size());
    Array out;
    if (rows.shape()[1] == 0) {
        // Nothing has no quantile; the result belongs to the graph all the same.
        out = BroadcastTo(Sum(rows, Axes{1}, true) + Scalar{std::numeric_limits<double>::quiet_NaN()},
                          Shape{rows.shape()[0], n_quantiles});
    } else {
        Array sorted = Sort(rows);
        Array last = At(sorted, {Slice{}, Slice{-1, {}, {}}}).AsDetached();
        Array counts = nan == Nan::kIgnored
                               ? Sum(LogicalNot(IsNan(rows.AsDetached())), Axes{1}, true)
                               : Full({rows.shape()[0], 1}, Scalar{rows.shape()[1]}, Dtype::kInt64, rows.device());
        out = Interpolate(sorted, counts, FromHost({n_quantiles}, Dtype::kFloat64, q.values.data(), a.device()),
                          method);
        if (nan == Nan::kWins) out = Where(IsNan(last), last, out);
    }
    Shape shape = ReduceShape(a.shape(), axes, keepdims);
    if (q.is_single) return Reshape(out, shape);
    shape.insert(0, n_quantiles);
    return Reshape(Transpose(out), shape);
}

Numbers CheckQuantiles(const char* name, const Numbers& q, double whole) {
    Numbers out = q;
    for (double& value : out.values) {
        if (!(value >= 0 && value <= whole)) {
            throw ValueError{name, ": q must be from 0 to ", whole, ", was ", value};
        }
        value /= whole;
    }
    return out;
}

}  // namespace

CHAINERX_ROUTINE(Median, "median", "a, axis=None, keepdims=False", "", R"(
Median over axes: the element in the middle of the sorted ones, or the mean of the two in the middle.

Not-a-number wins. Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Medians, not-a-number where there are no elements. A floating point dtype is kept; integers
    and booleans give float32.

Raises:
    @axis_error

>>> chainerx.median(chainerx.array([[1., 5., 3.], [4., 2., 9.]]), axis=1)
array([3., 4.], shape=(2,), dtype=float64, device='native:0')
)");
Array Median(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return QuantilesOf(a, 0.5, axis, QuantileMethod::kLinear, keepdims, Nan::kWins);
}

CHAINERX_ROUTINE(Percentile, "percentile", "a, q, axis=None, method='linear', keepdims=False", "", R"(
Percentiles over axes: elements of the sorted ones, from the first (0) to the last (100).

The percentile :math:`q` of :math:`n` elements is at :math:`(n - 1) q / 100`. Not-a-number wins. Differentiable any
number of times with respect to ``a``.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    q (float or sequence of float): Percentiles, from 0 to 100.
    @axes
    method (str): What lies between two elements: ``'linear'`` the point on the line between them, ``'lower'``,
        ``'higher'`` and ``'nearest'`` one of them, ``'midpoint'`` their mean.
    @keepdims

Returns:
    ~chainerx.ndarray: Percentiles, not-a-number where there are no elements. Those of a sequence are the first axis.
    A floating point dtype is kept; integers and booleans give float32.

Raises:
    ValueError: If ``q`` is out of range, or ``method`` has no meaning.
    @axis_error

>>> x = chainerx.array([1., 2., 3., 4.])
>>> chainerx.percentile(x, [25, 50, 100])
array([1.75, 2.5 , 4.  ], shape=(3,), dtype=float64, device='native:0')
)");
Array Percentile(const Array& a, const Numbers& q, const OptionalAxes& axis, QuantileMethod method, bool keepdims) {
    return QuantilesOf(a, CheckQuantiles("percentile", q, 100), axis, method, keepdims, Nan::kWins);
}

CHAINERX_ROUTINE(Quantile, "quantile", "a, q, axis=None, method='linear', keepdims=False", "", R"(
Quantiles over axes: elements of the sorted ones, from the first (0) to the last (1).

The quantile :math:`q` of :math:`n` elements is at :math:`(n - 1) q`. Not-a-number wins. Differentiable any number of
times with respect to ``a``.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    q (float or sequence of float): Quantiles, from 0 to 1.
    @axes
    method (str): As for :func:`chainerx.percentile`.
    @keepdims

Returns:
    ~chainerx.ndarray: Quantiles, not-a-number where there are no elements. Those of a sequence are the first axis. A
    floating point dtype is kept; integers and booleans give float32.

Raises:
    ValueError: If ``q`` is out of range, or ``method`` has no meaning.
    @axis_error

>>> chainerx.quantile(chainerx.array([1., 2., 3., 4.]), 0.25)
array(1.75, shape=(), dtype=float64, device='native:0')
)");
Array Quantile(const Array& a, const Numbers& q, const OptionalAxes& axis, QuantileMethod method, bool keepdims) {
    return QuantilesOf(a, CheckQuantiles("quantile", q, 1), axis, method, keepdims, Nan::kWins);
}

CHAINERX_ROUTINE(NanMedian, "nanmedian", "a, axis=None, keepdims=False", "", R"(
Median over axes, ignoring NaN; see :func:`chainerx.median`.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Medians, not-a-number where there are no other elements. A floating point dtype is kept;
    integers and booleans give float32.

Raises:
    @axis_error

>>> chainerx.nanmedian(chainerx.array([1., chainerx.nan, 3.]))
array(2., shape=(), dtype=float64, device='native:0')
)");
Array NanMedian(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return QuantilesOf(a, 0.5, axis, QuantileMethod::kLinear, keepdims, Nan::kIgnored);
}

CHAINERX_ROUTINE(NanPercentile, "nanpercentile", "a, q, axis=None, method='linear', keepdims=False", "", R"(
Percentiles over axes, ignoring NaN; see :func:`chainerx.percentile`.

Differentiable any number of times with respect to ``a``; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    q (float or sequence of float): Percentiles, from 0 to 100.
    @axes
    method (str): As for :func:`chainerx.percentile`.
    @keepdims

Returns:
    ~chainerx.ndarray: Percentiles, not-a-number where there are no other elements. Those of a sequence are the first
    axis. A floating point dtype is kept; integers and booleans give float32.

Raises:
    ValueError: If ``q`` is out of range, or ``method`` has no meaning.
    @axis_error

>>> chainerx.nanpercentile(chainerx.array([1., chainerx.nan, 3.]), 25)
array(1.5, shape=(), dtype=float64, device='native:0')
)");
Array NanPercentile(const Array& a, const Numbers& q, const OptionalAxes& axis, QuantileMethod method, bool keepdims) {
    return QuantilesOf(a, CheckQuantiles("nanpercentile", q, 100), axis, method, keepdims, Nan::kIgnored);
}

CHAINERX_ROUTINE(NanQuantile, "nanquantile", "a, q, axis=None, method='linear', keepdims=False", "", R"(
Quantiles over axes, ignoring NaN; see :func:`chainerx.quantile`.

Differentiable any number of times with respect to ``a``; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    q (float or sequence of float): Quantiles, from 0 to 1.
    @axes
    method (str): As for :func:`chainerx.percentile`.
    @keepdims

Returns:
    ~chainerx.ndarray: Quantiles, not-a-number where there are no other elements. Those of a sequence are the first
    axis. A floating point dtype is kept; integers and booleans give float32.

Raises:
    ValueError: If ``q`` is out of range, or ``method`` has no meaning.
    @axis_error

>>> chainerx.nanquantile(chainerx.array([1., chainerx.nan, 3.]), [0, 1])
array([1., 3.], shape=(2,), dtype=float64, device='native:0')
)");
Array NanQuantile(const Array& a, const Numbers& q, const OptionalAxes& axis, QuantileMethod method, bool keepdims) {
    return QuantilesOf(a, CheckQuantiles("nanquantile", q, 1), axis, method, keepdims, Nan::kIgnored);
}

}  // namespace chainerx
