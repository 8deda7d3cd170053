"""Functions that search or count along axes, which :mod:`chainerx` has without ``keepdims``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainerx import _core

if TYPE_CHECKING:
    from chainerx._core import ndarray


def _keep(y, x, axis, keepdims):
    if not keepdims:
        return y
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    reduced = {a % x.ndim for a in axes}
    return y.reshape([1 if i in reduced else n for i, n in enumerate(x.shape)])


def argmax(x: ndarray, /, *, axis: int | None = None, keepdims: bool = False) -> ndarray:
    """Index of the largest element along an axis; see :func:`chainerx.argmax`.

    Not differentiable.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (int or None): Axis; the flattened array is searched unless given.
        keepdims (bool): Whether the reduced axes stay, with length one.

    Returns:
        ~chainerx.ndarray: Indices, of dtype int64.

    .. admonition:: Example

        >>> chainerx.array_api.argmax(chainerx.array([[1, 3, 2]]), axis=1, keepdims=True)
        array([[1]], shape=(1, 1), dtype=int64, device='native:0')

    """
    return _keep(_core.argmax(x, axis), x, axis, keepdims)


def argmin(x: ndarray, /, *, axis: int | None = None, keepdims: bool = False) -> ndarray:
    """Index of the smallest element along an axis; see :func:`chainerx.argmin`.

    Not differentiable.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (int or None): Axis; the flattened array is searched unless given.
        keepdims (bool): Whether the reduced axes stay, with length one.

    Returns:
        ~chainerx.ndarray: Indices, of dtype int64.

    .. admonition:: Example

        >>> chainerx.array_api.argmin(chainerx.array([[3, 1, 2]]), axis=1, keepdims=True)
        array([[1]], shape=(1, 1), dtype=int64, device='native:0')

    """
    return _keep(_core.argmin(x, axis), x, axis, keepdims)


def count_nonzero(
    x: ndarray, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> ndarray:
    """Number of nonzero elements over axes; see :func:`chainerx.count_nonzero`.

    Not differentiable.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (None, int or tuple of int): Axes; all unless given.
        keepdims (bool): Whether the reduced axes stay, with length one.

    Returns:
        ~chainerx.ndarray: Counts, of dtype int64.

    .. admonition:: Example

        >>> chainerx.array_api.count_nonzero(chainerx.array([[0, 1, 2]]), axis=1, keepdims=True)
        array([[2]], shape=(1, 1), dtype=int64, device='native:0')

    """
    return _keep(_core.count_nonzero(x, axis), x, axis, keepdims)
