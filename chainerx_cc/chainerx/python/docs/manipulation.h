#pragma once

// The documentation of changes of shape and order; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kReshape = R"(
The same elements in another shape.

The result shares the data where strides permit it. Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    newshape (int or tuple of int): Shape. One length may be -1: it follows from the others.

Returns:
    ~chainerx.ndarray: Array of that shape.

Raises:
    ~chainerx.DimensionError: If the shape has another number of elements.

>>> chainerx.reshape(chainerx.arange(6), (2, -1))
array([[0, 1, 2],
       [3, 4, 5]], shape=(2, 3), dtype=int64, device='native:0')
)";

constexpr const char* kRavel = R"(
The elements in one dimension, in C order.

The result shares the data where strides permit it. Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: One-dimensional array.

>>> x = chainerx.array([[1, 2], [3, 4]])
>>> chainerx.ravel(x)
array([1, 2, 3, 4], shape=(4,), dtype=int64, device='native:0')
>>> x.T.ravel()
array([1, 3, 2, 4], shape=(4,), dtype=int64, device='native:0')
)";

constexpr const char* kTranspose = R"(
The axes in another order, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axes (tuple of int or None): For each axis of the result, which one of ``a`` it is; reversed unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If ``axes`` is not a permutation.

>>> chainerx.transpose(chainerx.ones((2, 3, 4)), (1, 0, 2)).shape
(3, 2, 4)
)";

constexpr const char* kSqueeze = R"(
The array without axes of length one, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (None, int or tuple of int): Axes to remove; all of length one unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If an axis has another length, or is out of range.

>>> x = chainerx.ones((1, 3, 1))
>>> chainerx.squeeze(x).shape
(3,)
>>> x.squeeze(axis=0).shape
(3, 1)
)";

constexpr const char* kExpandDims = R"(
The array with a new axis of length one, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int): Position of the axis in the result.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.expand_dims(chainerx.ones((2, 3)), 1).shape
(2, 1, 3)
)";

constexpr const char* kSwapaxes = R"(
The array with two axes interchanged, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis1, axis2 (int): Axes.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If an axis is out of range.

>>> x = chainerx.ones((2, 3, 4))
>>> chainerx.swapaxes(x, 0, 2).shape
(4, 3, 2)
>>> x.swapaxes(0, 1).shape
(3, 2, 4)
)";

constexpr const char* kMoveaxis = R"(
The array with some axes moved to other places, as a view; the others keep their order.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    source (int or tuple of int): Axes to move.
    destination (int or tuple of int): Their positions in the result.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If an axis is out of range or given twice, or the numbers of axes differ.

>>> chainerx.moveaxis(chainerx.ones((2, 3, 4)), 0, -1).shape
(3, 4, 2)
)";

constexpr const char* kRollaxis = R"(
The array with an axis moved to before another one, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int): Axis to move.
    start (int): Axis before which it goes; the number of dimensions stands for the end.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If ``axis`` or ``start`` is out of range.

>>> chainerx.rollaxis(chainerx.ones((2, 3, 4)), 2).shape
(4, 2, 3)
)";

constexpr const char* kFlip = R"(
The elements in reverse order along axes, as a view.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Array of any dtype.
    axis (None, int or tuple of int): Axes; all unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    @axis_error

>>> chainerx.flip(chainerx.array([[1, 2], [3, 4]]), axis=1)
array([[2, 1],
       [4, 3]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kFliplr = R"(
The elements in reverse order along axis 1, as a view.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Array of at least two dimensions.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions.

>>> chainerx.fliplr(chainerx.array([[1, 2], [3, 4]]))
array([[2, 1],
       [4, 3]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kFlipud = R"(
The elements in reverse order along axis 0, as a view.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Array of at least one dimension.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If there is no dimension.

>>> chainerx.flipud(chainerx.array([[1, 2], [3, 4]]))
array([[3, 4],
       [1, 2]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kBroadcastTo = R"(
The array repeated to a larger shape, as a view.

Repeated elements lie in the same place: write to a copy only. Differentiable any number of times.

Args:
    array (~chainerx.ndarray): Array of any dtype.
    shape (tuple of int): Shape. Axes of length one, and those that ``array`` lacks at the front, are repeated.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If the array does not broadcast to the shape.

>>> chainerx.broadcast_to(chainerx.array([1, 2]), (2, 2))
array([[1, 2],
       [1, 2]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kCopy = R"(
A copy of the array, in C order.

Differentiable any number of times; see :meth:`~chainerx.ndarray.as_grad_stopped` for a copy outside of the graph.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Array with data of its own.

>>> x = chainerx.array([1, 2])
>>> y = chainerx.copy(x)
>>> x += 10
>>> y
array([1, 2], shape=(2,), dtype=int64, device='native:0')
>>> x.copy()
array([11, 12], shape=(2,), dtype=int64, device='native:0')
)";

constexpr const char* kDiagonal = R"(
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
)";

constexpr const char* kTril = R"(
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
)";

constexpr const char* kTriu = R"(
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
)";

constexpr const char* kDiag = R"(
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
)";

constexpr const char* kDiagflat = R"(
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
)";

constexpr const char* kCopyTo = R"(
Writes an array or a number into another array, where a condition holds.

Not differentiable.

Args:
    dst (~chainerx.ndarray): Array that is written to.
    src (~chainerx.ndarray or number): Values; they broadcast to the shape of ``dst``.
    casting (str): Conversions that are permitted, in NumPy's words: ``'no'``, ``'equiv'``, ``'safe'``,
        ``'same_kind'`` or ``'unsafe'``.
    where (~chainerx.ndarray or bool): Condition; it broadcasts to the shape of ``dst``.

Raises:
    ValueError: If ``casting`` has no meaning.
    ~chainerx.ChainerxError: If ``dst`` belongs to a graph.
    ~chainerx.DtypeError: If the conversion is not permitted.
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> x = chainerx.zeros(3)
>>> chainerx.copyto(x, 5, where=chainerx.array([True, False, True]))
>>> x
array([5., 0., 5.], shape=(3,), dtype=float32, device='native:0')
)";

constexpr const char* kNonzero = R"(
Indices of the nonzero elements.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of at least one dimension.

Returns:
    tuple of ~chainerx.ndarray: For each dimension the indices of the elements, of dtype int64.

Raises:
    ~chainerx.DimensionError: If there is no dimension.

>>> rows, columns = chainerx.nonzero(chainerx.array([[0, 1], [2, 0]]))
>>> rows
array([0, 1], shape=(2,), dtype=int64, device='native:0')
>>> columns
array([1, 0], shape=(2,), dtype=int64, device='native:0')
)";

constexpr const char* kTake = R"(
Elements at given indices along an axis.

Differentiable any number of times with respect to ``a``.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    indices (~chainerx.ndarray, sequence or int): Indices, in any shape; negative ones count from the end.
    axis (int or None): Axis; the flattened array is taken unless given.
    mode (str or None): What an index out of range does: ``'raise'`` (the default) an error, ``'wrap'`` begins
        again at the other end, ``'clip'`` takes the element at the end.

Returns:
    ~chainerx.ndarray: Array in which the shape of ``indices`` stands in the place of the axis.

Raises:
    ~chainerx.IndexError: If an index is out of range.
    ~chainerx.DtypeError: If the indices are no integers.
    ValueError: If ``mode`` has no meaning.

>>> x = chainerx.array([[1, 2, 3], [4, 5, 6]])
>>> chainerx.take(x, [2, 0], axis=1)
array([[3, 1],
       [6, 4]], shape=(2, 2), dtype=int64, device='native:0')
>>> x.take([4, 5, 6], mode='wrap')
array([5, 6, 1], shape=(3,), dtype=int64, device='native:0')
)";

constexpr const char* kClip = R"(
Elementwise limits, :math:`\min(\max(a, a_{min}), a_{max})`.

Differentiable any number of times, with respect to limits that are arrays, too.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    a_min, a_max (~chainerx.ndarray, number or None): Lower and upper limit; one of them may be ``None``.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ValueError: If both limits are ``None``.
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> x = chainerx.array([-5., 0.5, 5.])
>>> chainerx.clip(x, -1, 1)
array([-1. ,  0.5,  1. ], shape=(3,), dtype=float64, device='native:0')
>>> x.clip(0, None)
array([0. , 0.5, 5. ], shape=(3,), dtype=float64, device='native:0')
)";

}  // namespace chainerx::python::docs
