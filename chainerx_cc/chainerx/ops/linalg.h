#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// out = op(a) op(b) + beta * out for matrices, and stacks of them with equal leading dimensions. `a` and `b` may be
// transposed views; all have the same dtype.
using MatmulKernel = KernelSlot<void(const Array& a, const Array& b, double beta, const Array& out)>;
extern const MatmulKernel kMatmulKernel;

// out = a b + bias for matrices and a vector that is added to each row; all have the same dtype. Of backends that do so
// in one step; others copy the bias and call MatmulKernel.
using MatmulBiasKernel = KernelSlot<void(const Array& a, const Array& b, const Array& bias, const Array& out)>;
extern const MatmulBiasKernel kMatmulBiasKernel;

// out = a[0] b[0] + a[1] b[1] + ... for matrices of float32 or float64: to the last bit what products by MatmulKernel
// give if they are added in this order.
using MatmulSumKernel = KernelSlot<void(const std::vector<Array>& a, const std::vector<Array>& b, const Array& out)>;
extern const MatmulSumKernel kMatmulSumKernel;

// Sums over the last axis of `a` and the last but one of `b`.
Array Dot(const Array& a, const Array& b);
// Matrix product with broadcasting of leading dimensions.
Array Matmul(const Array& a, const Array& b);
// Sums over the last axis of both, over all elements, and over a diagonal.
Array Inner(const Array& a, const Array& b);
Array Vdot(const Array& a, const Array& b);
Array Trace(const Array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
// Sum products of the vectors along an axis, and the last two axes interchanged.
Array Vecdot(const Array& x1, const Array& x2, int64_t axis = -1);
Array MatrixTranspose(const Array& x);
// Products of all pairs of elements, as a matrix and as a matrix of blocks.
Array Outer(const Array& a, const Array& b);
Array Kron(const Array& a, const Array& b);
// Cross products of vectors of three elements, which are axes of the arrays; `axis` stands for all three axes.
Array Cross(const Array& a, const Array& b, int64_t axisa = -1, int64_t axisb = -1, int64_t axisc = -1,
            const std::optional<int64_t>& axis = std::nullopt);
struct AxesPair {
    Axes a;
    Axes b;
};
// Sums over the given number of last axes of `a` and first axes of `b`, or over pairs of axes.
Array Tensordot(const Array& a, const Array& b, const std::variant<int64_t, AxesPair>& axes = int64_t{2});
// NumPy's Einstein summation. Products of more than two operands are taken pair by pair, the cheapest first.
Array Einsum(const std::string& subscripts, const std::vector<Array>& operands);
// y = x W^T + b; the first n_batch_axes axes of x are kept, the others flattened.
Array Linear(const Array& x, const Array& w, const std::optional<Array>& b = std::nullopt, int64_t n_batch_axes = 1);

#define CHAINERX_LINALG_ROUTINES(X, X_OUT) \
    X_OUT(Dot)                             \
    X_OUT(Matmul)                          \
    X(Vecdot)                              \
    X(MatrixTranspose)                     \
    X(Inner)                               \
    X(Vdot)                                \
    X_OUT(Trace)                           \
    X_OUT(Outer)                           \
    X(Kron)                                \
    X(Cross)                               \
    X(Linear)                              \
    X(Tensordot)

CHAINERX_LINALG_ROUTINES(CHAINERX_DECLARE_ROUTINE, CHAINERX_DECLARE_ROUTINE)
CHAINERX_DECLARE_ROUTINE(Einsum)  // not in the list: Python has two ways to write its arguments

}  // namespace chainerx
