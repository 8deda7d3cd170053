// Norms of vectors and matrices, made of differentiable operations.

#include <cmath>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/factorization.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"

namespace chainerx {
namespace {

Array EuclideanNorm(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Sqrt(Sum(Square(x), axes, keepdims));
}

Array VectorNorm(const Array& x, double p, int8_t axis, bool keepdims) {
    Axes axes{axis};
    if (p == 2) return EuclideanNorm(x, axes, keepdims);
    if (p == 0) return Sum(AsType(NotEqual(x, Scalar{0}), x.dtype()), axes, keepdims);
    Array size = Absolute(x);
    if (std::isinf(p)) return p > 0 ? AMax(size, axes, keepdims) : AMin(size, axes, keepdims);
    if (p == 1) return Sum(size, axes, keepdims);
    return Power(Sum(Power(size, Scalar{p}), axes, keepdims), Scalar{1 / p});
}

// The norms that are singular values or sums of them.
Array SpectralNorm(const Array& x, const NormOrder& order, const Axes& axes, bool keepdims) {
    Array s = SingularValues(Moveaxis(x, axes, Axes{-2, -1}));
    Array y = order.kind == NormOrder::kNuclear ? Sum(s, Axes{-1})
                                                : (order.p > 0 ? AMax(s, Axes{-1}) : AMin(s, Axes{-1}));
    return keepdims ? Reshape(y, ReduceShape(x.shape(), NormalizeAxes(axes, x.ndim()), true)) : y;
}

Array MatrixNorm(const Array& x, const NormOrder& order, const Axes& axes, bool keepdims) {
    if (order.kind == NormOrder::kNuclear || std::fabs(order.p) == 2) return SpectralNorm(x, order, axes, keepdims);
    if (std::fabs(order.p) != 1 && !std::isinf(order.p)) {
        throw ChainerxError{"norm: a matrix has no norm of the order ", order.p};
    }
    // Sums over columns for 1, over rows for infinity.
    int8_t summed = axes[std::isinf(order.p) ? 1 : 0];
    int8_t chosen = axes[std::isinf(order.p) ? 0 : 1];
    Array sums = Sum(Absolute(x), Axes{summed}, true);
    Array y = order.p > 0 ? AMax(sums, Axes{chosen}, true) : AMin(sums, Axes{chosen}, true);
    return keepdims ? y : Squeeze(y, axes);
}

bool IsOfSingularValues(const NormOrder& order, int8_t n_axes) {
    if (order.kind == NormOrder::kNuclear) return true;
    return order.kind == NormOrder::kNumber && n_axes == 2 && std::fabs(order.p) == 2;
}

}  // namespace

CHAINERX_ROUTINE(Norm, "linalg.norm", "x, ord=None, axis=None, keepdims=False", "svd", R"(
Norms of vectors or matrices.

Without ``ord``, the square root of the sum of squares. For vectors, ``ord`` is a number :math:`p` for
:math:`(\sum |x_i|^p)^{1/p}`, infinity or minus infinity for the largest and the smallest absolute value, or 0
for the number of elements that are not zero. For matrices, it is ``'fro'``, ``'nuc'`` for the sum of singular
values, 2 or -2 for the largest or smallest of them, 1 or -1 for the largest or smallest sum of absolute values of a
column, and infinity or minus infinity for that of a row.

Differentiable any number of times where the norm is smooth.

Args:
    x (~chainerx.ndarray): Array of real numbers.
    ord (float or str): Order of the norm.
    axis (int or pair of int): Axis of vectors, or axes of matrices. All by default.
    keepdims (bool): Whether the axes stay, with length one.

Returns:
    ~chainerx.ndarray: Norms.

Raises:
    ~chainerx.DimensionError: If ``ord`` has no meaning for this number of dimensions.
    ~chainerx.ChainerxError: If ``ord`` has no meaning for matrices.

>>> x = chainerx.array([[3., -4.], [6., 8.]])
>>> chainerx.linalg.norm(x, axis=1)
array([ 5., 10.], shape=(2,), dtype=float64, device='native:0')
>>> float(chainerx.linalg.norm(x, 1))
12.0
)");
Array Norm(const Array& a, const NormOrder& order, const OptionalAxes& axis, bool keepdims) {
    Array x = AsType(a, ToFloatDtype(a.dtype()), false);
    if (IsComplex(x.dtype()) && !IsOfSingularValues(order, axis.has_value() ? axis->ndim() : a.ndim())) x = Absolute(x);
    if (order.kind == NormOrder::kDefault && (!axis.has_value() || axis->ndim() <= 2)) {
        return EuclideanNorm(x, axis, keepdims);
    }
    Axes axes;
    if (axis.has_value()) {
        NormalizeAxes(axis, x.ndim());  // raises on duplicates
        for (int8_t i : *axis) axes.push_back(NormalizeAxis(i, x.ndim()));
    } else {
        for (int8_t i = 0; i < x.ndim(); ++i) axes.push_back(i);
    }
    if (axes.ndim() == 1 && order.kind == NormOrder::kNumber) return VectorNorm(x, order.p, axes[0], keepdims);
    if (axes.ndim() != 2) {
        throw DimensionError{"norm: this order is for ",
                             order.kind == NormOrder::kNumber ? "vectors and " : "",
                             "matrices, not for ",
                             int{axes.ndim()},
                             " dimensions of an array of shape ",
                             x.shape()};
    }
    if (order.kind == NormOrder::kFrobenius) return EuclideanNorm(x, axes, keepdims);
    return MatrixNorm(x, order, axes, keepdims);
}

}  // namespace chainerx
