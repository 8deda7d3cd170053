#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// The dtype in which means and the like are computed: a sum in half precision may overflow, one of integers in float32
// is not exact.
constexpr Dtype ToWideDtype(Dtype d) { return IsHalf(d) ? Dtype::kFloat32 : IsInexact(d) ? d : Dtype::kFloat64; }

// One number, or several in a row.
struct Numbers {
    Numbers(double value) : values{value}, is_single{true} {}                       // NOLINT(runtime/explicit)
    Numbers(std::vector<double> row) : values{std::move(row)}, is_single{false} {}  // NOLINT(runtime/explicit)

    std::vector<double> values;
    bool is_single;
};

// What lies between two elements: a point on the line between them, one of them, or the point in the middle.
enum class QuantileMethod { kLinear, kLower, kHigher, kMidpoint, kNearest };
CHAINERX_ENUM_WORDS(QuantileMethod, "linear", "lower", "higher", "midpoint", "nearest");

Array Median(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
// The elements below which lies a part of all elements, from 0 to 100 or from 0 to 1. Several ones become the first
// axis.
Array Percentile(const Array& a, const Numbers& q, const OptionalAxes& axis = std::nullopt,
                 QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
Array Quantile(const Array& a, const Numbers& q, const OptionalAxes& axis = std::nullopt,
               QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);

// Without the elements that are not-a-number. See Nansum, too.
Array NanProd(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanMean(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanVar(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanStd(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanMax(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanMin(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanMedian(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array NanPercentile(const Array& a, const Numbers& q, const OptionalAxes& axis = std::nullopt,
                    QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
Array NanQuantile(const Array& a, const Numbers& q, const OptionalAxes& axis = std::nullopt,
                  QuantileMethod method = QuantileMethod::kLinear, bool keepdims = false);
Array NanCumsum(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array NanCumprod(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
// Finite numbers in place of others; the largest and smallest ones of the dtype in place of infinite ones.
Array NanToNum(const Array& x, bool copy = true, double nan = 0, const std::optional<double>& posinf = std::nullopt,
               const std::optional<double>& neginf = std::nullopt);

// How often each integer from zero on occurs, or the sum of its weights.
Array Bincount(const Array& x, const std::optional<Array>& weights = std::nullopt, int64_t minlength = 0);
// Numbers of elements (or sums of their weights) in a number of bins of equal widths, or between given edges; and the
// edges.
std::tuple<Array, Array> Histogram(const Array& a, const Numbers& bins = 10.0,
                                   const std::optional<Numbers>& range = std::nullopt, bool density = false,
                                   const std::optional<Array>& weights = std::nullopt);

#define CHAINERX_STATISTICS_ROUTINES(X, X_OUT) \
    X_OUT(Median)                              \
    X_OUT(Percentile)                          \
    X_OUT(Quantile)                            \
    X_OUT(NanProd)                             \
    X_OUT(NanMean)                             \
    X_OUT(NanVar)                              \
    X_OUT(NanStd)                              \
    X_OUT(NanMax)                              \
    X_OUT(NanMin)                              \
    X_OUT(NanMedian)                           \
    X_OUT(NanPercentile)                       \
    X_OUT(NanQuantile)                         \
    X_OUT(NanCumsum)                           \
    X_OUT(NanCumprod)                          \
    X(NanToNum)                                \
    X(Bincount)                                \
    X(Histogram)

CHAINERX_STATISTICS_ROUTINES(CHAINERX_DECLARE_ROUTINE, CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
