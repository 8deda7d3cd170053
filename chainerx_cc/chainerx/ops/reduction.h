#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

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
// Along one axis; all arrays are contiguous. The gradient is found from the output.
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
Array Var(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Std(const Array& a, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
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
Array Cumprod(const Array& a, const std::optional<int64_t>& axis = std::nullopt);
Array LogSumExp(const Array& x, const OptionalAxes& axis = std::nullopt, bool keepdims = false);
Array Softmax(const Array& x, const OptionalAxes& axis = std::nullopt);
Array LogSoftmax(const Array& x, const OptionalAxes& axis = std::nullopt);

// X(function, name in Python, signature, method of ndarray, kernels); its documentation is python/docs/reduction.h
#define CHAINERX_REDUCTION_OPS(X)                                                 \
    X(Sum, "sum", "a, axis=None, keepdims=False", true, "sum")                    \
    X(Nansum, "nansum", "a, axis=None, keepdims=False", false, "nansum")          \
    X(Prod, "prod", "a, axis=None, keepdims=False", true, "prod")                 \
    X(Mean, "mean", "a, axis=None, keepdims=False", true, "")                     \
    X(Var, "var", "a, axis=None, keepdims=False", true, "")                       \
    X(Std, "std", "a, axis=None, keepdims=False", true, "")                       \
    X(AMax, "amax", "a, axis=None, keepdims=False", false, "amax")                \
    X(AMin, "amin", "a, axis=None, keepdims=False", false, "amin")                \
    X(All, "all", "x|a, axis=None, keepdims=False", true, "all")                  \
    X(Any, "any", "x|a, axis=None, keepdims=False", true, "any")                  \
    X(ArgMax, "argmax", "a, axis=None", true, "argmax")                           \
    X(ArgMin, "argmin", "a, axis=None", true, "argmin")                           \
    X(NanArgMax, "nanargmax", "a, axis=None", false, "argmax")                    \
    X(NanArgMin, "nanargmin", "a, axis=None", false, "argmin")                    \
    X(CountNonzero, "count_nonzero", "a, axis=None", false, "")                   \
    X(Cumsum, "cumsum", "a, axis=None", true, "cumsum")                           \
    X(Cumprod, "cumprod", "a, axis=None", true, "cumprod")                        \
    X(LogSumExp, "logsumexp", "x, axis=None, keepdims=False", false, "logsumexp") \
    X(Softmax, "softmax", "x, axis=None", false, "softmax softmax_grad")          \
    X(LogSoftmax, "log_softmax", "x, axis=None", false, "log_softmax log_softmax_grad")

}  // namespace chainerx
