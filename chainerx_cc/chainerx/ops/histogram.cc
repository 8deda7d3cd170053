// Counts of integers, and of elements in bins.

#include <algorithm>
#include <cmath>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/sorting.h"
#include "chainerx/ops/statistics.h"

namespace chainerx {
namespace {

// Sums of the weights (or counts) of each index from zero on, which is int64 and less than n.
Array SumWeights(const Array& index, const std::optional<Array>& weights, int64_t n) {
    if (!weights.has_value()) {
        Array one = BroadcastTo(Full({}, Scalar{1}, Dtype::kInt64, index.device()), index.shape());
        return AddAt(Zeros({n}, Dtype::kInt64, index.device()), index, one);
    }
    Dtype wide = ToWideDtype(weights->dtype());
    Array sums = AddAt(Zeros({n}, wide, index.device()), index, AsType(*weights, wide, false));
    return AsType(sums, ToFloatDtype(weights->dtype()), false);
}

void CheckWeights(const char* name, const Array& a, const std::optional<Array>& weights) {
    if (!weights.has_value()) return;
    CheckDevices(a, *weights);
    if (weights->shape() != a.shape()) {
        throw DimensionError{name, ": weights of shape ", weights->shape(), " do not fit to elements of shape ",
                             a.shape()};
    }
}

// The ends of the bins: given ones, or those of the elements.
std::pair<double, double> FindRange(const Array& a, const std::optional<Numbers>& range) {
    double low = 0;
    double high = 1;
    if (range.has_value()) {
        if (range->is_single || range->values.size() != 2) {
            throw ValueError{"histogram: range must be a pair of numbers, has ", range->values.size()};
        }
        low = range->values[0];
        high = range->values[1];
    } else if (a.GetTotalSize() > 0) {
        low = static_cast<double>(AsScalar(AMin(a)));
        high = static_cast<double>(AsScalar(AMax(a)));
    }
    if (!std::isfinite(low) || !std::isfinite(high)) {
        throw ValueError{"histogram: the range from ", low, " to ", high, " is not finite"};
    }
    if (low > high) throw ValueError{"histogram: the range must not end (", high, ") before it begins (", low, ")"};
    return low == high ? std::pair{low - 0.5, high + 0.5} : std::pair{low, high};
}

Array MakeEdges(const Array& a, const Numbers& bins, const std::optional<Numbers>& range) {
    // Fractions of integers need float64.
    Dtype dtype = IsFloat(a.dtype()) ? a.dtype() : Dtype::kFloat64;
    if (bins.is_single) {
        double n = bins.values[0];
        if (!(n >= 1 && n < 9e15 && n == std::floor(n))) {
            throw ValueError{"histogram: bins must be a positive integer or the edges of bins, was ", n};
        }
        auto [low, high] = FindRange(a, range);
        return Linspace(low, high, static_cast<int64_t>(n) + 1, true, dtype, a.device());
    }
    if (bins.values.empty()) throw ValueError{"histogram: bins must have an edge"};
    for (size_t i = 1; i < bins.values.size(); ++i) {
        if (!(bins.values[i - 1] <= bins.values[i])) {
            throw ValueError{"histogram: the edges of bins must increase, but ", bins.values[i], " follows ",
                             bins.values[i - 1]};
        }
    }
    auto n = static_cast<int64_t>(bins.values.size());
    return AsType(FromHost({n}, Dtype::kFloat64, bins.values.data(), a.device()), dtype, false);
}

}  // namespace

CHAINERX_ROUTINE(Bincount, "bincount", "x, weights=None, minlength=0", "add_at", R"(
How often each integer from zero on occurs, or sums of weights, :math:`y_i = \sum_{j: x_j = i} w_j`.

Differentiable any number of times with respect to ``weights``.

Args:
    x (~chainerx.ndarray): Vector of integers that are not negative.
    weights (~chainerx.ndarray or None): Weights of the elements, of the shape of ``x``; all one unless given.
    minlength (int): Least length of the result.

Returns:
    ~chainerx.ndarray: Vector whose length is the largest integer and one, or ``minlength``. Counts are of dtype int64;
    sums keep a floating point dtype, those of other weights are float32.

Raises:
    ~chainerx.DimensionError: If ``x`` is no vector, or ``weights`` has another shape.
    ~chainerx.DtypeError: If ``x`` is of a floating point dtype.
    ValueError: If an integer or ``minlength`` is negative.

>>> x = chainerx.array([0, 2, 2])
>>> chainerx.bincount(x)
array([1, 0, 2], shape=(3,), dtype=int64, device='native:0')
>>> chainerx.bincount(x, chainerx.array([0.5, 1., 2.]))
array([0.5, 0. , 3. ], shape=(3,), dtype=float64, device='native:0')
)");
Array Bincount(const Array& x, const std::optional<Array>& weights, int64_t minlength) {
    if (IsFloat(x.dtype())) throw DtypeError{"bincount: x must be of an integer dtype, not ", x.dtype()};
    if (x.ndim() != 1) throw DimensionError{"bincount: x must have one dimension, has shape ", x.shape()};
    if (minlength < 0) throw ValueError{"bincount: minlength must not be negative, was ", minlength};
    CheckWeights("bincount", x, weights);
    Array index = AsType(x.AsDetached(), Dtype::kInt64, false);
    int64_t n = minlength;
    if (index.GetTotalSize() > 0) {
        auto least = static_cast<int64_t>(AsScalar(AMin(index)));
        if (least < 0) throw ValueError{"bincount: x must not be negative, but has ", least};
        n = std::max(n, static_cast<int64_t>(AsScalar(AMax(index))) + 1);
    }
    return SumWeights(index, weights, n);
}

CHAINERX_ROUTINE(Histogram, "histogram", "a, bins=10, range=None, density=False, weights=None", "", R"(
Numbers of elements in bins, and the edges of the bins.

A bin holds the elements from its edge on and below the next one, the last bin also those at its end. Elements
outside of all bins and NaN are left out. Differentiable any number of times with respect to ``weights``.

Args:
    a (~chainerx.ndarray): Array of any dtype; it is flattened.
    bins (int or sequence of float): Number of bins of equal widths, or their edges in ascending order.
    range (pair of float or None): Where bins of equal widths begin and end; at the smallest and the largest element
        unless given.
    density (bool): Whether the results are divided by their sum and the widths of the bins, so that the area is one.
    weights (~chainerx.ndarray or None): Weights of the elements, of the shape of ``a``; all one unless given.

Returns:
    tuple of ~chainerx.ndarray: Counts, of dtype int64, or sums of weights or densities, of floating point; and the
    edges, of the floating point dtype of ``a``, or float32.

Raises:
    ValueError: If the number of bins is not positive, edges do not increase, or the range is not finite.
    ~chainerx.DimensionError: If ``weights`` has another shape than ``a``.

>>> counts, edges = chainerx.histogram(chainerx.array([1., 2., 2., 5.]), bins=2)
>>> counts
array([3, 1], shape=(2,), dtype=int64, device='native:0')
>>> edges
array([1., 3., 5.], shape=(3,), dtype=float64, device='native:0')
)");
std::tuple<Array, Array> Histogram(const Array& a, const Numbers& bins, const std::optional<Numbers>& range,
                                   bool density, const std::optional<Array>& weights) {
    CheckWeights("histogram", a, weights);
    Array x = Ravel(a.AsDetached());
    Array edges = MakeEdges(x, bins, range);
    int64_t n = edges.GetTotalSize() - 1;
    // Bins count from one on; zero and n + 1 hold what is outside.
    Array last = At(edges, {n});
    Array bin = Where(Equal(x, last), Scalar{n}, Searchsorted(edges, x, SearchSide::kRight));
    Array sums = SumWeights(bin, weights.has_value() ? std::optional<Array>{Ravel(*weights)} : weights, n + 2);
    Array out = At(sums, {Slice{1, n + 1, {}}});
    if (density) {
        Dtype wide = ToWideDtype(a.dtype());
        Array widths = Diff(AsType(edges, wide, false));
        out = AsType(AsType(out, wide, false) / (AsType(Sum(out), wide, false) * widths), ToFloatDtype(a.dtype()),
                     false);
    }
    return {out, AsType(edges, ToFloatDtype(a.dtype()), false)};
}

}  // namespace chainerx
