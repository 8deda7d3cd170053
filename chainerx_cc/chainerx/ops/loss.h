#pragma once

#include <optional>
#include <string>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

Array AbsoluteError(const Array& x1, const Array& x2);
Array SquaredError(const Array& x1, const Array& x2);
Array GaussianKLDivergence(const Array& mean, const Array& ln_var);
Array HuberLoss(const Array& x1, const Array& x2, double delta);
Array SigmoidCrossEntropy(const Array& x1, const Array& x2);
// The cross entropy of the softmax of x1 (N, C, ...) along axis 1 with the classes x2 (N, ...), zero where the class is
// ignore_label. Losses are multiplied by the weight of their class, if there are class_weight (C). `reduce`: "no",
// "sum", or "mean": the sum by the number of classes that are not ignored, or by N unless `normalize`.
Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, int64_t ignore_label = -1,
                          const std::optional<Array>& class_weight = std::nullopt, const std::string& reduce = "no",
                          bool normalize = true);
Array Hinge(const Array& x1, const Array& x2, double norm = 1.0);
Array Accuracy(const Array& y, const Array& t, const std::optional<int64_t>& ignore_label = std::nullopt);

// x (N, C, ...) and t (N, ...) of int64, contiguous: loss (N, ...), zero where t is ignore_label. log_sum (N, ...), the
// logarithm of the sum of exp(x), is for the backward pass and of the dtype in which the kernel computes.
using SoftmaxCrossEntropyKernel =
        KernelSlot<void(const Array& x, const Array& t, int64_t ignore_label, const Array& loss, const Array& log_sum)>;
// gx = (softmax(x) - onehot(t)) * gloss[:, None]
using SoftmaxCrossEntropyGradKernel = KernelSlot<void(const Array& x, const Array& t, int64_t ignore_label,
                                                      const Array& log_sum, const Array& gloss, const Array& gx)>;
extern const SoftmaxCrossEntropyKernel kSoftmaxCrossEntropyKernel;
extern const SoftmaxCrossEntropyGradKernel kSoftmaxCrossEntropyGradKernel;

#define CHAINERX_LOSS_ROUTINES(X) \
    X(AbsoluteError)              \
    X(SquaredError)               \
    X(GaussianKLDivergence)       \
    X(HuberLoss)                  \
    X(SigmoidCrossEntropy)        \
    X(SoftmaxCrossEntropy)        \
    X(Hinge)                      \
    X(Accuracy)

CHAINERX_LOSS_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
