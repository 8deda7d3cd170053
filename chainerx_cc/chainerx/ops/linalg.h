#pragma once

#include <optional>
#include <string>
#include <vector>

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
// Sums over the last axis of both, over all elements, and over a diagonal.
Array Inner(const Array& a, const Array& b);
Array Vdot(const Array& a, const Array& b);
Array Trace(const Array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
// Products of all pairs of elements, as a matrix and as a matrix of blocks.
Array Outer(const Array& a, const Array& b);
Array Kron(const Array& a, const Array& b);
// Sums over the last `n_axes` axes of `a` and the first of `b`, or over pairs of axes.
Array Tensordot(const Array& a, const Array& b, int64_t n_axes = 2);
Array Tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes);
// NumPy's Einstein summation. Products of more than two operands are taken pair by pair, the cheapest first.
Array Einsum(const std::string& subscripts, const std::vector<Array>& operands);
// y = x W^T + b; the first n_batch_axes axes of x are kept, the others flattened.
Array Linear(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt, int64_t n_batch_axes = 1);

// X(function, name in Python, signature, method of ndarray, kernels); its documentation is python/docs/linalg.h
#define CHAINERX_LINALG_OPS(X)                                   \
    X(Dot, "dot", "a, b", true, "matmul")                        \
    X(Matmul, "matmul", "a, b", false, "matmul")                 \
    X(Inner, "inner", "a, b", false, "matmul")                   \
    X(Vdot, "vdot", "a, b", false, "matmul")                     \
    X(Trace, "trace", "a, offset=0, axis1=0, axis2=1", true, "") \
    X(Outer, "outer", "a, b", false, "")                         \
    X(Kron, "kron", "a, b", false, "")                           \
    X(Linear, "linear", "x, W|w, b=None, n_batch_axis|n_batch_axes=1", false, "matmul")

}  // namespace chainerx
