"""Linear algebra of the array API standard that is made of other routines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy

from chainerx import _core, _internal

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from chainerx._core import ndarray


def cross(x1: ndarray, x2: ndarray, axis: int = -1) -> ndarray:
    """Cross products of vectors in three dimensions; see :func:`chainerx.cross`.

    Differentiable any number of times.

    Args:
        x1, x2 (~chainerx.ndarray): Arrays of length three along the axis, whose other axes
            broadcast.
        axis (int): Axis.

    Returns:
        ~chainerx.ndarray: Cross products.

    Raises:
        ~chainerx.DimensionError: If the shapes do not fit together.

    .. admonition:: Example

        >>> x, y = chainerx.array([1, 0, 0]), chainerx.array([0, 1, 0])
        >>> chainerx.linalg.cross(x, y)
        array([0, 0, 1], shape=(3,), dtype=int64, device='native:0')

    """
    return _core.cross(x1, x2, axis=axis)


def diagonal(x: ndarray, offset: int = 0) -> ndarray:
    """Diagonals of matrices; see :func:`chainerx.diagonal`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`.
        offset (int): Distance from the main diagonal, positive above it.

    Returns:
        ~chainerx.ndarray: View, whose last axis is the diagonal.

    Raises:
        ~chainerx.DimensionError: If ``x`` has less than two dimensions.

    .. admonition:: Example

        >>> chainerx.linalg.diagonal(chainerx.array([[1, 2], [3, 4]]))
        array([1, 4], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.diagonal(x, offset, -2, -1)


def matrix_norm(
    x: ndarray, keepdims: bool = False, ord: float | Literal['fro', 'nuc'] | None = 'fro'
) -> ndarray:
    """Norms of matrices; see :func:`norm`.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`.
        keepdims (bool): Whether the last two axes stay, with length one.
        ord (float or str): Order: ``'fro'``, ``'nuc'``, 1, -1, 2, -2, infinity or minus infinity.

    Returns:
        ~chainerx.ndarray: Norms.

    Raises:
        ~chainerx.DimensionError: If ``x`` has less than two dimensions.

    .. admonition:: Example

        >>> float(chainerx.linalg.matrix_norm(chainerx.array([[3., 0.], [0., 4.]])))
        5.0

    """
    return _internal.linalg.norm(x, ord, (-2, -1), keepdims)


def matrix_power(x: ndarray, n: int) -> ndarray:
    """Powers of square matrices.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, m)`.
        n (int): Exponent; negative ones take the inverses.

    Returns:
        ~chainerx.ndarray: Matrices of the same shape.

    Raises:
        ~chainerx.DimensionError: If the matrices are not square.

    .. admonition:: Example

        >>> chainerx.linalg.matrix_power(chainerx.array([[1, 1], [0, 1]]), 5)
        array([[1, 5],
               [0, 1]], shape=(2, 2), dtype=int64, device='native:0')

    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise _core.DimensionError(f'matrix_power: x must be square matrices, has shape {x.shape}')
    if n < 0:
        x, n = _internal.linalg.inv(x), -n
    if n == 0:
        one = _core.eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return _core.copy(_core.broadcast_to(one, x.shape))
    # By squaring: the bits of the exponent from the highest one on.
    result = x
    for bit in f'{n:b}'[1:]:
        result = _core.matmul(result, result)
        if bit == '1':
            result = _core.matmul(result, x)
    return result


def _tolerance(x, s, rtol):
    """What singular values must exceed, with a new last axis."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(numpy.finfo(s.dtype).eps)
    elif isinstance(rtol, _core.ndarray):
        rtol = _core.expand_dims(rtol, -1)
    return _core.amax(s, -1, True) * rtol


def matrix_rank(x: ndarray, rtol: float | ndarray | None = None) -> ndarray:
    """Ranks of matrices: numbers of singular values that differ from zero. Not differentiable.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, real or complex.
        rtol (float, ~chainerx.ndarray or None): Singular values up to this fraction of the largest
            count as zero; :math:`\\max(m, n) \\epsilon` unless given. An array has a value for each
            matrix.

    Returns:
        ~chainerx.ndarray: Ranks, of dtype int64 and shape :math:`(...)`.

    Raises:
        ~chainerx.DtypeError: If the dtype is none of float32, float64, complex64 and complex128.
        ~chainerx.DimensionError: If ``x`` has less than two dimensions.

    .. admonition:: Example

        >>> chainerx.linalg.matrix_rank(chainerx.array([[1., 2.], [2., 4.]]))
        array(1, shape=(), dtype=int64, device='native:0')

    """
    s = svdvals(x.as_grad_stopped())
    if s.shape[-1] == 0:
        return _core.zeros(s.shape[:-1], 'int64', s.device)
    return _core.count_nonzero(s > _tolerance(x, s, rtol), -1)


def svdvals(x: ndarray) -> ndarray:
    """Singular values of matrices; see :func:`svd`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`, real or complex.

    Returns:
        ~chainerx.ndarray: Singular values in descending order, of shape :math:`(..., \\min(m, n))`.

    Raises:
        ~chainerx.DtypeError: If the dtype is none of float32, float64, complex64 and complex128.
        ~chainerx.DimensionError: If ``x`` has less than two dimensions.

    .. admonition:: Example

        >>> chainerx.linalg.svdvals(chainerx.array([[3., 0.], [0., 4.]]))
        array([4., 3.], shape=(2,), dtype=float64, device='native:0')

    """
    s: Any = _internal.linalg.svd(x, compute_uv=False)
    return s


def trace(x: ndarray, offset: int = 0, dtype: DTypeLike | None = None) -> ndarray:
    """Sums over the diagonals of matrices; see :func:`chainerx.trace`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Matrices of shape :math:`(..., m, n)`.
        offset (int): Distance from the main diagonal, positive above it.
        dtype: Dtype of the sums, by default that of :func:`chainerx.sum`.

    Returns:
        ~chainerx.ndarray: Sums, of shape :math:`(...)`.

    Raises:
        ~chainerx.DimensionError: If ``x`` has less than two dimensions.

    .. admonition:: Example

        >>> chainerx.linalg.trace(chainerx.array([[1., 2.], [3., 4.]]))
        array(5., shape=(), dtype=float64, device='native:0')

    """
    y = _core.trace(x if dtype is None else x.astype(dtype, False), offset, -2, -1)
    return y if dtype is None else y.astype(dtype, False)


def vector_norm(
    x: ndarray,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> ndarray:
    """Norms of vectors; see :func:`norm`.

    Differentiable any number of times where the norm is smooth.

    Args:
        x (~chainerx.ndarray): Array.
        axis (None, int or tuple of int): Axes over which the vectors extend; all unless given.
        keepdims (bool): Whether these axes stay, with length one.
        ord (float): Order :math:`p` of :math:`(\\sum |x_i|^p)^{1/p}`, infinity or minus infinity
            for the largest and the smallest absolute value, or 0 for the number of elements that
            are not zero.

    Returns:
        ~chainerx.ndarray: Norms.

    Raises:
        ~chainerx.DimensionError: If an axis is out of range or given twice.

    .. admonition:: Example

        >>> chainerx.linalg.vector_norm(chainerx.array([[3., 4.], [0., 2.]]), axis=1)
        array([5., 2.], shape=(2,), dtype=float64, device='native:0')

    """
    if isinstance(axis, int):
        return _internal.linalg.norm(x, ord, axis, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis)
    rows = _core.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    kept = rows.shape[: x.ndim - len(axes)]
    y = _internal.linalg.norm(rows.reshape((*kept, -1 if x.size else _size(rows, kept))), ord, -1)
    if not keepdims:
        return y
    shape = list(x.shape)
    for i in axes:
        shape[i] = 1
    return y.reshape(shape)


def _size(x, kept):
    """Number of elements of each vector, which cannot follow from that of all if this is zero."""
    return int(numpy.prod(x.shape[len(kept) :], dtype=numpy.int64))
