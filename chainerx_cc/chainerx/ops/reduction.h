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

// X(function, name in Python, signature, summary, method of ndarray, kernels)
#define CHAINERX_REDUCTION_OPS(X)                                                                                     \
    X(Sum, "sum", "a, axis=None, keepdims=False", "Sum of elements over axes. Integers are summed in int64.", true,   \
      "sum")                                                                                                          \
    X(Nansum, "nansum", "a, axis=None, keepdims=False",                                                               \
      "Sum over axes with elements that are not a number taken as zero.", false, "nansum")                            \
    X(Prod, "prod", "a, axis=None, keepdims=False", "Product of elements over axes.", true, "prod")                   \
    X(Mean, "mean", "a, axis=None, keepdims=False", "Arithmetic mean over axes.", true, "")                           \
    X(Var, "var", "a, axis=None, keepdims=False", "Variance over axes, without bias correction.", true, "")           \
    X(Std, "std", "a, axis=None, keepdims=False", "Standard deviation over axes, without bias correction.", true, "") \
    X(AMax, "amax", "a, axis=None, keepdims=False",                                                                   \
      "Largest element over axes. All elements that attain it share its gradient in full.", false, "amax")            \
    X(AMin, "amin", "a, axis=None, keepdims=False",                                                                   \
      "Smallest element over axes. All elements that attain it share its gradient in full.", false, "amin")           \
    X(All, "all", "x|a, axis=None, keepdims=False", "Whether all elements over axes are nonzero.", true, "all")       \
    X(Any, "any", "x|a, axis=None, keepdims=False", "Whether any element over axes is nonzero.", true, "any")         \
    X(ArgMax, "argmax", "a, axis=None",                                                                               \
      "Index of the first largest element along an axis, or in the flattened array.", true, "argmax")                 \
    X(ArgMin, "argmin", "a, axis=None",                                                                               \
      "Index of the first smallest element along an axis, or in the flattened array.", true, "argmin")                \
    X(NanArgMax, "nanargmax", "a, axis=None", "Like argmax, ignoring elements that are not a number.", false,         \
      "argmax")                                                                                                       \
    X(NanArgMin, "nanargmin", "a, axis=None", "Like argmin, ignoring elements that are not a number.", false,         \
      "argmin")                                                                                                       \
    X(CountNonzero, "count_nonzero", "a, axis=None", "Number of nonzero elements over axes.", false, "")              \
    X(Cumsum, "cumsum", "a, axis=None", "Cumulative sum along an axis, or of the flattened array.", true, "cumsum")   \
    X(Cumprod, "cumprod", "a, axis=None", "Cumulative product along an axis, or of the flattened array.", true,       \
      "cumprod")                                                                                                      \
    X(LogSumExp, "logsumexp", "x, axis=None, keepdims=False",                                                         \
      "Logarithm of the sum of exponentials over axes, without overflow.", false, "logsumexp")                        \
    X(Softmax, "softmax", "x, axis=None", "Exponentials normalized to the sum one along axis 1 or the axes given.",   \
      false, "softmax softmax_grad")                                                                                  \
    X(LogSoftmax, "log_softmax", "x, axis=None", "Logarithm of the softmax along axis 1 or the axes given.", false,   \
      "log_softmax log_softmax_grad")

}  // namespace chainerx
