"""Functions that the standard has with other dtypes or arguments than :mod:`chainerx`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainerx import _core
from chainerx._standard import sum_dtype

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from chainerx._core import ndarray


def ceil(x: ndarray, /) -> ndarray:
    """Elementwise rounding up, :math:`\\lceil x \\rceil`. Not differentiable.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        ~chainerx.ndarray: Array of the dtype of ``x``, for integers a copy.

    .. admonition:: Example

        >>> chainerx.array_api.ceil(chainerx.array([1, 2]))
        array([1, 2], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.ceil(x) if x.dtype.kind == 'f' else _core.copy(x)


def floor(x: ndarray, /) -> ndarray:
    """Elementwise rounding down, :math:`\\lfloor x \\rfloor`. Not differentiable.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        ~chainerx.ndarray: Array of the dtype of ``x``, for integers a copy.

    .. admonition:: Example

        >>> chainerx.array_api.floor(chainerx.array([1, 2]))
        array([1, 2], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.floor(x) if x.dtype.kind == 'f' else _core.copy(x)


def trunc(x: ndarray, /) -> ndarray:
    """Elementwise rounding towards zero. Not differentiable.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        ~chainerx.ndarray: Array of the dtype of ``x``, for integers a copy.

    .. admonition:: Example

        >>> chainerx.array_api.trunc(chainerx.array([1, 2]))
        array([1, 2], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.trunc(x) if x.dtype.kind == 'f' else _core.copy(x)


def floor_divide(x1: ndarray | float, x2: ndarray | float, /) -> ndarray:
    """Elementwise floor division, :math:`\\lfloor x_1 / x_2 \\rfloor`. Not differentiable.

    With infinity it is the quotient, as the standard says: infinity divided by 2 is infinity, and 1
    divided by minus infinity is -0. The operator ``//`` gives NaN and -1, as Python and NumPy do.

    Args:
        x1 (~chainerx.ndarray or number): Array of numbers that are not complex.
        x2 (~chainerx.ndarray or number): The same. One of both must be an array.

    Returns:
        ~chainerx.ndarray: Array of the dtype to which both promote.

    .. admonition:: Example

        >>> x = chainerx.array([7, -7, float('inf')])
        >>> chainerx.array_api.floor_divide(x, 2)
        array([ 3., -4., inf], shape=(3,), dtype=float64, device='native:0')

    """
    result = _core.floor_divide(x1, x2)
    if result.dtype.kind in 'bui':
        return result
    x1, x2 = (x.as_grad_stopped() if isinstance(x, _core.ndarray) else x for x in (x1, x2))
    is_limit = _core.logical_or(_is_infinite(x1), _is_infinite(x2))
    return _core.where(is_limit, _core.divide(x1, x2), result)


def _is_infinite(x):
    return _core.isinf(x) if isinstance(x, _core.ndarray) else math.isinf(x)


def _shift(routine, x1, x2):
    if isinstance(x1, int) and isinstance(x2, _core.ndarray):
        x1 = _core.full((), x1, x2.dtype, x2.device)
    return routine(x1, x2)


def bitwise_left_shift(x1: ndarray | int, x2: ndarray | int, /) -> ndarray:
    """Elementwise shift of bits to the left; see :func:`chainerx.left_shift`.

    Not differentiable.

    Args:
        x1 (~chainerx.ndarray or int): Integers to shift. A number has the dtype of ``x2``; the
            operator ``<<`` takes it as int64, as in Chainer 7.
        x2 (~chainerx.ndarray or int): Numbers of bits.

    Returns:
        ~chainerx.ndarray: Array of the dtype of ``x1``.

    .. admonition:: Example

        >>> chainerx.array_api.bitwise_left_shift(1, chainerx.array([1, 2], 'uint8'))
        array([2, 4], shape=(2,), dtype=uint8, device='native:0')

    """
    return _shift(_core.left_shift, x1, x2)


def bitwise_right_shift(x1: ndarray | int, x2: ndarray | int, /) -> ndarray:
    """Elementwise shift of bits to the right, keeping the sign; see :func:`chainerx.right_shift`.

    Not differentiable.

    Args:
        x1 (~chainerx.ndarray or int): Integers to shift. A number has the dtype of ``x2``; the
            operator ``>>`` takes it as int64, as in Chainer 7.
        x2 (~chainerx.ndarray or int): Numbers of bits.

    Returns:
        ~chainerx.ndarray: Array of the dtype of ``x1``.

    .. admonition:: Example

        >>> chainerx.array_api.bitwise_right_shift(9, chainerx.array([1, 2], 'uint8'))
        array([4, 2], shape=(2,), dtype=uint8, device='native:0')

    """
    return _shift(_core.right_shift, x1, x2)


def clip(
    x: ndarray, /, min: ndarray | float | None = None, max: ndarray | float | None = None
) -> ndarray:
    """Elementwise limits; see :func:`chainerx.clip`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        min, max (~chainerx.ndarray, number or None): Limits.

    Returns:
        ~chainerx.ndarray: Array of the dtype of ``x``, a copy without limits.

    .. admonition:: Example

        >>> chainerx.array_api.clip(chainerx.array([1, 2, 3]), max=2)
        array([1, 2, 2], shape=(3,), dtype=int64, device='native:0')

    """
    if min is None and max is None:
        return _core.copy(x)
    return _core.clip(x, min, max).astype(x.dtype, False)


def reshape(x: ndarray, /, shape: tuple[int, ...], *, copy: bool | None = None) -> ndarray:
    """Returns the same elements in another shape; see :func:`chainerx.reshape`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        shape (tuple of int): Shape. One length may be -1: it follows from the others.
        copy (bool or None): Whether to copy: always, never, or where there is no such view.

    Returns:
        ~chainerx.ndarray: Array of the shape.

    Raises:
        ValueError: If ``copy`` is false and the shape needs a copy.

    .. admonition:: Example

        >>> chainerx.array_api.reshape(chainerx.ones((2, 3)), (3, 2)).shape
        (3, 2)

    """
    y = _core.reshape(x, shape)
    shares = y.data_ptr == x.data_ptr
    if copy is False and not shares:
        raise _core.ValueError(f'reshape: {x.shape} to {shape} needs a copy, but copy is False')
    return _core.copy(y) if copy and shares else y


def _reduce(routine, x, axis, dtype, keepdims):
    dtype = dtype or sum_dtype(x)
    return routine(x.astype(dtype, False), axis, keepdims).astype(dtype, False)


def sum(
    x: ndarray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> ndarray:
    """Sum of elements over axes; see :func:`chainerx.sum`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (None, int or tuple of int): Axes; all unless given.
        dtype: Dtype of the sums. Unless given, a floating point dtype is kept; booleans and signed
            integers are summed in int64, unsigned ones in uint64.
        keepdims (bool): Whether the reduced axes stay, with length one.

    Returns:
        ~chainerx.ndarray: Sums.

    .. admonition:: Example

        >>> chainerx.array_api.sum(chainerx.array([1, 2]), dtype='float32')
        array(3., shape=(), dtype=float32, device='native:0')

    """
    return _reduce(_core.sum, x, axis, dtype, keepdims)


def prod(
    x: ndarray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> ndarray:
    """Product of elements over axes; see :func:`chainerx.prod`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (None, int or tuple of int): Axes; all unless given.
        dtype: Dtype of the products, by default that of :func:`sum`.
        keepdims (bool): Whether the reduced axes stay, with length one.

    Returns:
        ~chainerx.ndarray: Products.

    .. admonition:: Example

        >>> chainerx.array_api.prod(chainerx.array([2, 3]), dtype='float32')
        array(6., shape=(), dtype=float32, device='native:0')

    """
    return _reduce(_core.prod, x, axis, dtype, keepdims)
