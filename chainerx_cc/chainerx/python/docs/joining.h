#pragma once

// The documentation of what joins, repeats and splits arrays; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kConcatenate = R"(
Arrays joined along an axis.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes. Dtypes are promoted.
    axis (int or None): Axis; ``None`` joins the flattened arrays.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.concatenate([chainerx.array([[1, 2]]), chainerx.array([[3, 4]])], axis=0)
array([[1, 2],
       [3, 4]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kStack = R"(
Arrays joined along a new axis.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of one shape. Dtypes are promoted.
    axis (int): Position of the axis in the result.

Returns:
    ~chainerx.ndarray: Array with one more dimension.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes differ.

>>> chainerx.stack([chainerx.array([1, 2]), chainerx.array([3, 4])], axis=1)
array([[1, 3],
       [2, 4]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kHstack = R"(
Arrays joined along axis 1, or along axis 0 if they have one dimension.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.hstack([chainerx.array([1, 2]), chainerx.array([3])])
array([1, 2, 3], shape=(3,), dtype=int64, device='native:0')
)";

constexpr const char* kVstack = R"(
Arrays joined along axis 0; those of one dimension become rows.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.vstack([chainerx.array([1, 2]), chainerx.array([3, 4])])
array([[1, 2],
       [3, 4]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kDstack = R"(
Arrays joined along axis 2, which is added where it is missing.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.dstack([chainerx.array([1, 2]), chainerx.array([3, 4])])
array([[[1, 3],
        [2, 4]]], shape=(1, 2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kAtleast2D = R"(
The array with axes of length one in front, if it has less than two dimensions.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: View of two or more dimensions.

>>> chainerx.atleast_2d(chainerx.array([1, 2])).shape
(1, 2)
)";

constexpr const char* kAtleast3D = R"(
The array with axes of length one, if it has less than three dimensions.

A vector of length :math:`n` gets the shape :math:`(1, n, 1)`, a matrix another axis at the end. Differentiable any
number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: View of three or more dimensions.

>>> chainerx.atleast_3d(chainerx.array([1, 2])).shape
(1, 2, 1)
)";

constexpr const char* kRepeat = R"(
Each element repeated.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    repeats (int or tuple of int): Number of times, one for all or one for each element along the axis.
    axis (int or None): Axis; the flattened array is taken unless given.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If the number of ``repeats`` does not fit, or the axis is out of range.

>>> x = chainerx.array([[1, 2], [3, 4]])
>>> chainerx.repeat(x, (1, 2), axis=1)
array([[1, 2, 2],
       [3, 4, 4]], shape=(2, 3), dtype=int64, device='native:0')
>>> x.repeat(2)
array([1, 1, 2, 2, 3, 3, 4, 4], shape=(8,), dtype=int64, device='native:0')
)";

constexpr const char* kTile = R"(
The array repeated like tiles.

Differentiable any number of times.

Args:
    A (~chainerx.ndarray): Array of any dtype.
    reps (int or tuple of int): Number of tiles along each axis, the last ones if there are fewer.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a number is negative.

>>> chainerx.tile(chainerx.array([1, 2]), (2, 2))
array([[1, 2, 1, 2],
       [1, 2, 1, 2]], shape=(2, 4), dtype=int64, device='native:0')
)";

constexpr const char* kRoll = R"(
The elements moved along axes; those that leave at one end enter at the other.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    shift (int or tuple of int): Number of places, one for all axes or one for each.
    axis (None, int or tuple of int): Axes; the flattened array is rolled unless given.

Returns:
    ~chainerx.ndarray: Array of the shape of ``a``.

Raises:
    ValueError: If the numbers of shifts and axes do not fit.
    ~chainerx.DimensionError: If an axis is out of range.

>>> chainerx.roll(chainerx.array([1, 2, 3, 4]), 1)
array([4, 1, 2, 3], shape=(4,), dtype=int64, device='native:0')
)";

constexpr const char* kPad = R"(
An array made larger at its sides.

Differentiable any number of times.

Args:
    array (~chainerx.ndarray): Array of any dtype.
    pad_width (int, pair of int, or sequence of pairs): Number of elements before and after: one for all sides, a pair
        for all axes, or a pair for each axis.
    mode (str): What the new elements are: ``'constant'`` values; copies of the element at the ``'edge'``; copies of
        the elements seen in a mirror that stands on it (``'reflect'``) or behind it (``'symmetric'``); or those at
        the other end (``'wrap'``).
    constant_values (number, pair, or sequence of pairs): Values in mode ``'constant'``, in the forms of ``pad_width``.
        Corners get those of the last axis.

Returns:
    ~chainerx.ndarray: Padded array of the dtype of ``array``.

Raises:
    ValueError: If ``mode`` has no meaning, or the number of widths or values does not fit.
    TypeError: If a width is no integer.
    ~chainerx.DimensionError: If a width is negative, or the elements of an axis without any are to be copied.

>>> chainerx.pad(chainerx.array([1, 2, 3]), 2, mode='reflect')
array([3, 2, 1, 2, 3, 2, 1], shape=(7,), dtype=int64, device='native:0')
)";

constexpr const char* kSplit = R"(
Parts of an array along an axis, as views.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of any dtype.
    indices_or_sections (int or sequence of int): Number of equal parts, or the indices at which parts begin.
    axis (int): Axis.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If equal parts are not possible, or the axis is out of range.

>>> a, b = chainerx.split(chainerx.arange(5), [2])
>>> a
array([0, 1], shape=(2,), dtype=int64, device='native:0')
>>> b
array([2, 3, 4], shape=(3,), dtype=int64, device='native:0')
)";

constexpr const char* kVsplit = R"(
Parts of an array along axis 0, as views; see :func:`chainerx.split`.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of at least two dimensions.
    indices_or_sections (int or sequence of int): Number of equal parts, or the indices at which parts begin.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions, or equal parts are not possible.

>>> [part.shape for part in chainerx.vsplit(chainerx.ones((4, 3)), 2)]
[(2, 3), (2, 3)]
)";

constexpr const char* kHsplit = R"(
Parts of an array along axis 1 (axis 0 of one dimension), as views; see :func:`chainerx.split`.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of at least one dimension.
    indices_or_sections (int or sequence of int): Number of equal parts, or the indices at which parts begin.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If there is no dimension, or equal parts are not possible.

>>> [part.shape for part in chainerx.hsplit(chainerx.ones((2, 5)), [1, 3])]
[(2, 1), (2, 2), (2, 2)]
)";

constexpr const char* kDsplit = R"(
Parts of an array along axis 2, as views; see :func:`chainerx.split`.

Differentiable any number of times.

Args:
    ary (~chainerx.ndarray): Array of at least three dimensions.
    indices_or_sections (int or sequence of int): Number of equal parts, or the indices at which parts begin.

Returns:
    list of ~chainerx.ndarray: Views.

Raises:
    ~chainerx.DimensionError: If there are less than three dimensions, or equal parts are not possible.

>>> [part.shape for part in chainerx.dsplit(chainerx.ones((1, 2, 4)), 2)]
[(1, 2, 2), (1, 2, 2)]
)";

}  // namespace chainerx::python::docs
