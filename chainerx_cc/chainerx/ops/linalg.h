#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// out = op(a) op(b) + beta * out for matrices, and stacks of them with equal leading dimensions. `a` and `b` may be
// transposed views; all have the same dtype.
using MatmulKernel = KernelSlot<void(const Array& a, const Array& b, double beta, const Array& out)>;
extern const MatmulKernel kMatmulKernel;

// Sums over the last axis of `a` and the last but one of `b`.
Array Dot(const Array& a, const Array& b);
// Matrix product with broadcasting of leading dimensions.
Array Matmul(const Array& a, const Array& b);
// y = x W^T + b; the first n_batch_axes axes of x are kept, the others flattened.
Array Linear(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt, int64_t n_batch_axes = 1);

// X(function, name in Python, signature, summary, method of ndarray, kernels)
#define CHAINERX_LINALG_OPS(X)                                                                                      \
    X(Dot, "dot", "a, b", "Sum product over the last axis of ``a`` and the last but one of ``b``.", true, "matmul") \
    X(Matmul, "matmul", "a, b", "Matrix product, broadcasting leading dimensions.", false, "matmul")                \
    X(Linear, "linear", "x, W|w, b=None, n_batch_axis|n_batch_axes=1",                                              \
      "Affine map :math:`x W^T + b`. Axes of ``x`` after the first ``n_batch_axis`` are flattened.", false, "matmul")

}  // namespace chainerx
