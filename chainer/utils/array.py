"""Shapes of arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray


def as_vec(x: NdArray) -> NdArray:
    """Returns ``x`` as a one-dimensional array.

    Args:
        x: Array of any module and shape.

    Returns:
        Array of the shape ``(x.size,)``, ``x`` itself if it is one-dimensional.

    .. admonition:: Example

        >>> from chainer.utils import array
        >>> array.as_vec(np.array([[1, 2], [3, 4]]))
        array([1, 2, 3, 4])

    """
    return x if x.ndim == 1 else x.ravel()


def as_mat(x: NdArray) -> NdArray:
    """Returns ``x`` as a matrix with its first axis as rows.

    Args:
        x: Array of any module, with at least one axis.

    Returns:
        Array of the shape ``(len(x), x.size // len(x))``, ``x`` itself if it is a matrix.

    .. admonition:: Example

        >>> from chainer.utils import array
        >>> array.as_mat(np.zeros((2, 3, 4))).shape
        (2, 12)

    """
    return x if x.ndim == 2 else x.reshape(len(x), -1)


def empty_like(x: NdArray) -> NdArray:
    """Returns an uninitialized array like ``x``, of the same module.

    Args:
        x: Array of any module.

    Returns:
        Array of the shape and dtype of ``x``.

    .. admonition:: Example

        >>> from chainer.utils import array
        >>> y = array.empty_like(np.zeros((2, 3), np.float32))
        >>> y.shape, y.dtype.name
        ((2, 3), 'float32')

    """
    return cuda.get_array_module(x).empty_like(x)


def _cast(x: Any, dtype: DTypeSpec) -> Any:
    """Casts an array, if necessary.

    What float16 cannot hold becomes infinite, as on any NumPy; from 1.24 on, NumPy would warn.
    """
    if x.dtype == dtype:
        return x
    if type(x) is numpy.ndarray and numpy.dtype(dtype).char == 'e':
        with numpy.errstate(over='ignore'):
            return x.astype(dtype)
    return x.astype(dtype)


def size_of_shape(shape: tuple[int, ...]) -> int:
    """Returns the number of elements for a shape.

    Args:
        shape (tuple of int): Shape.

    Returns:
        int: Product of the sizes.

    .. admonition:: Example

        >>> from chainer import utils
        >>> utils.size_of_shape((2, 3))
        6

    """
    return math.prod(shape)


def sum_to(x: NdArray, shape: tuple[int, ...]) -> NdArray:
    """Sums elements to a given shape: the inverse of broadcasting.

    Args:
        x: Array of any module.
        shape (tuple of int): Shape that can be broadcast to the shape of ``x``.

    Returns:
        Array of the shape; ``x`` itself if it already has the shape.

    Raises:
        ValueError: If ``x`` cannot be summed to this shape.

    .. admonition:: Example

        >>> from chainer import utils
        >>> utils.sum_to(np.array([[1., 2., 3.], [4., 5., 6.]]), (2, 1))
        array([[ 6.],
               [15.]])

    """
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    if lead < 0 or any(n != 1 and n != m for n, m in zip(shape, x.shape[lead:])):
        raise ValueError(f'shape {tuple(shape)} cannot be broadcast to {x.shape}')
    axes = tuple([i for i in range(x.ndim) if i < lead or shape[i - lead] == 1 and x.shape[i] != 1])
    y = x.sum(axis=axes, keepdims=True)
    return y.reshape(shape) if lead > 0 else y
