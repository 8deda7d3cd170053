// Diagonals and triangles of matrices.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {
namespace {

// Where the diagonal of two axes lies.
struct DiagonalPlace {
    DiagonalPlace(const Shape& shape, int64_t offset, int64_t axis1, int64_t axis2)
        : axis1{NormalizeAxis(axis1, shape.ndim())}, axis2{NormalizeAxis(axis2, shape.ndim())} {
        if (this->axis1 == this->axis2) throw DimensionError{"diagonal: axis1 and axis2 are both ", axis1};
        down = offset >= 0 ? 0 : -std::max(offset, -INT64_MAX);
        right = std::max<int64_t>(offset, 0);
        length = std::max<int64_t>(0, std::min(shape[this->axis1] - down, shape[this->axis2] - right));
    }

    // The diagonal as the last axis.
    Array ViewOf(const Array& a) const {
        Shape shape;
        Strides strides;
        for (int8_t i = 0; i < a.ndim(); ++i) {
            if (i == axis1 || i == axis2) continue;
            shape.push_back(a.shape()[i]);
            strides.push_back(a.strides()[i]);
        }
        shape.push_back(length);
        strides.push_back(a.strides()[axis1] + a.strides()[axis2]);
        int64_t start = length > 0 ? down * a.strides()[axis1] + right * a.strides()[axis2] : 0;
        return internal::MakeView(a, shape, strides, a.offset() + start);
    }

    int8_t axis1;
    int8_t axis2;
    int64_t down;
    int64_t right;
    int64_t length;
};

// The adjoint of Diagonal: zeros of a shape, with a diagonal.
Array PutDiagonal(const Array& v, const Shape& shape, int64_t offset, int64_t axis1, int64_t axis2) {
    Array out = Zeros(shape, v.dtype(), v.device());
    CopyData(v, DiagonalPlace{shape, offset, axis1, axis2}.ViewOf(out));
    return internal::RecordView("diagonal", v, std::move(out),
                                [=](const Array& gy) { return Diagonal(gy, offset, axis1, axis2); });
}

}  // namespace

CHAINERX_METHOD_ROUTINE(Diagonal, "diagonal", "a, offset=0, axis1=0, axis2=1", "", R"(
Elements :math:`a_{i, i + k}` of two axes, as the last axis of a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of at least two dimensions.
    offset (int): Distance :math:`k` from the main diagonal; positive above it.
    axis1, axis2 (int): Axes of rows and columns.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions, or an axis is out of range or given twice.

>>> x = chainerx.array([[1, 2], [3, 4]])
>>> chainerx.diagonal(x)
array([1, 4], shape=(2,), dtype=int64, device='native:0')
>>> x.diagonal(offset=1)
array([2], shape=(1,), dtype=int64, device='native:0')
)");
Array Diagonal(const Array& a, int64_t offset, int64_t axis1, int64_t axis2) {
    if (a.ndim() < 2) throw DimensionError{"diagonal: a must have at least 2 dimensions, has shape ", a.shape()};
    return internal::RecordView(
            "diagonal", a, DiagonalPlace{a.shape(), offset, axis1, axis2}.ViewOf(a),
            [=, shape = a.shape()](const Array& gy) { return PutDiagonal(gy, shape, offset, axis1, axis2); });
}

namespace {

Array DiagOf(const Array& v, int64_t k) {
    if (v.ndim() == 2) return Diagonal(v, k);
    if (v.ndim() != 1) throw DimensionError{"diag needs an array of 1 or 2 dimensions, not ", int{v.ndim()}};
    int64_t n = 0;
    if (__builtin_add_overflow(v.shape()[0], std::abs(std::max(k, -INT64_MAX)), &n)) {
        throw DimensionError{"diag: the result would be too big with k = ", k};
    }
    return PutDiagonal(v, {n, n}, k, 0, 1);
}

}  // namespace

CHAINERX_ROUTINE(Diag, "diag", "v, k=0, device=None", "", R"(
A matrix with a given diagonal, or the diagonal of a matrix.

Differentiable any number of times.

Args:
    v (~chainerx.ndarray): Vector or matrix.
    k (int): Distance from the main diagonal; positive above it.
    device (~chainerx.Device or str): Device of the result; that of ``v`` unless given.

Returns:
    ~chainerx.ndarray: Matrix for a vector, vector for a matrix.

Raises:
    ~chainerx.DimensionError: If ``v`` has neither one nor two dimensions.

>>> chainerx.diag(chainerx.array([1, 2]))
array([[1, 0],
       [0, 2]], shape=(2, 2), dtype=int64, device='native:0')
>>> chainerx.diag(chainerx.array([[1, 2], [3, 4]]))
array([1, 4], shape=(2,), dtype=int64, device='native:0')
)");
Array Diag(const Array& v, int64_t k, Device* device) {
    Array out = DiagOf(v, k);
    return device == nullptr ? out : ToDevice(out, *device);
}

CHAINERX_ROUTINE(Diagflat, "diagflat", "v, k=0, device=None", "", R"(
A matrix whose diagonal is the flattened array.

Differentiable any number of times.

Args:
    v (~chainerx.ndarray): Array of any shape.
    k (int): Distance from the main diagonal; positive above it.
    device (~chainerx.Device or str): Device of the result; that of ``v`` unless given.

Returns:
    ~chainerx.ndarray: Matrix.

>>> chainerx.diagflat(chainerx.array([[1, 2]]), k=1)
array([[0, 1, 0],
       [0, 0, 2],
       [0, 0, 0]], shape=(3, 3), dtype=int64, device='native:0')
)");
Array Diagflat(const Array& v, int64_t k, Device* device) { return Diag(Ravel(v), k, device); }

namespace {

Array KeepTriangle(const Array& m, int64_t k, bool lower) {
    if (m.ndim() == 0) throw DimensionError{"a triangle needs an array of at least 1 dimension"};
    Array a = m.ndim() == 1 ? BroadcastTo(m, Shape{m.shape()[0], m.shape()[0]}) : m;
    int64_t rows = a.shape()[a.ndim() - 2];
    int64_t columns = a.shape()[a.ndim() - 1];
    Array mask = Tri(rows, columns, lower ? k : std::max(k, -INT64_MAX) - 1, Dtype::kBool, m.device());
    Scalar zero = m.dtype() == Dtype::kBool ? Scalar{false} : Scalar{int64_t{0}};
    return lower ? Where(mask, a, zero) : Where(mask, zero, a);
}

}  // namespace

CHAINERX_ROUTINE(Tril, "tril", "m, k=0", "", R"(
The lower triangle of matrices, zeros elsewhere.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Matrices in the last two axes.
    k (int): Diagonal that limits the triangle: 0 is the main one, positive ones lie above it.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``m``.

>>> chainerx.tril(chainerx.array([[1, 2], [3, 4]]))
array([[1, 0],
       [3, 4]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Tril(const Array& m, int64_t k) { return KeepTriangle(m, k, true); }

CHAINERX_ROUTINE(Triu, "triu", "m, k=0", "", R"(
The upper triangle of matrices, zeros elsewhere.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Matrices in the last two axes.
    k (int): Diagonal that limits the triangle: 0 is the main one, positive ones lie above it.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``m``.

>>> chainerx.triu(chainerx.array([[1, 2], [3, 4]]))
array([[1, 2],
       [0, 4]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Triu(const Array& m, int64_t k) { return KeepTriangle(m, k, false); }

}  // namespace chainerx
