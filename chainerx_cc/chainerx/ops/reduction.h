#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Reductions over the given (sorted) axes of `a`; `out` has the shape without them and the result's dtype.
using ReduceKernel = KernelSlot<void(const Array& a, const Axes& axes, const Array& out)>;
extern const ReduceKernel kSumKernel;
extern const ReduceKernel kNansumKernel;
extern const ReduceKernel kProdKernel;
extern const ReduceKernel kAmaxKernel;
extern const ReduceKernel kAminKernel;
extern const ReduceKernel kAllKernel;
extern const ReduceKernel kAnyKernel;
extern const ReduceKernel kArgmaxKernel;
extern const ReduceKernel kArgminKernel;
extern const ReduceKernel kLogSumExpKernel;
// Along one axis: out[i] = a[0] + ... + a[i].
using ScanKernel = KernelSlot<void(const Array& a, int8_t axis, const Array& out)>;
extern const ScanKernel kCumsumKernel;
extern const ScanKernel kCumprodKernel;
// Along one axis; all arrays are contiguous. The gradient uses the output.
using SoftmaxKernel = KernelSlot<void(const Array& x, int8_t axis, const Array& y)>;
using SoftmaxGradKernel = KernelSlot<void(const Array& y, const Array& gy, int8_t axis, const Array& gx)>;
extern const SoftmaxKernel kSoftmaxKernel;
extern const SoftmaxKernel kLogSoftmaxKernel;
extern const SoftmaxGradKernel kSoftmaxGradKernel;
extern const SoftmaxGradKernel kLogSoftmaxGradKernel;

Array Sum(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Nansum(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Prod(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Mean(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Var(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false, double correction = 0);
Array Std(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false, double correction = 0);
Array AMax(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array AMin(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array All(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Any(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array ArgMax(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array ArgMin(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array NanArgMax(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array NanArgMin(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array CountNonzero(const Array& a, const OptionalAxes& axis = std::nullopt);
Array Cumsum(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array Diff(const Array& a, int64_t n = 1, int64_t axis = -1, const std::optional<Array>& prepend = std::nullopt,
           const std::optional<Array>& append = std::nullopt);
Array Cumprod(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array LogSumExp(const Array& x, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Softmax(const Array& x, const OptionalAxes& axis = std::nullopt);
Array LogSoftmax(const Array& x, const OptionalAxes& axis = std::nullopt);

#define CHAINERX_REDUCTION_ROUTINES(X, X_OUT) \
    X_OUT(Sum)                                \
    X_OUT(Nansum)                             \
    X_OUT(Prod)                               \
    X_OUT(Mean)                               \
    X_OUT(Var)                                \
    X_OUT(Std)                                \
    X_OUT(AMax)                               \
    X_OUT(AMin)                               \
    X_OUT(All)                                \
    X_OUT(Any)                                \
    X_OUT(ArgMax)                             \
    X_OUT(ArgMin)                             \
    X_OUT(NanArgMax)                          \
    X_OUT(NanArgMin)                          \
    X(CountNonzero)                           \
    X_OUT(Cumsum)                             \
    X(Diff)                                   \
    X_OUT(Cumprod)                            \
    X(LogSumExp)                              \
    X(Softmax)                                \
    X(LogSoftmax)

CHAINERX_REDUCTION_ROUTINES(CHAINERX_DECLARE_ROUTINE, CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
