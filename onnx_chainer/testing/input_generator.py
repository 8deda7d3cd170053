"""Arrays of different numbers, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def shaped_range(*shape: int, dtype: DTypeLike = np.float32) -> np.ndarray:
    """Returns the numbers from zero on in a shape.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.

    >>> onnx_chainer.testing.input_generator.shaped_range(2, 3).tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]

    """
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def _centered(shape, dtype):
    n = int(np.prod(shape))
    return (np.arange(n, dtype=dtype) - n // 2).reshape(shape)


def increasing(*shape: int, dtype: DTypeLike = np.float32) -> np.ndarray:
    """Returns increasing whole numbers around zero.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.

    >>> onnx_chainer.testing.input_generator.increasing(3).tolist()
    [-1.0, 0.0, 1.0]

    """
    return _centered(shape, dtype)


def nonzero_increasing(
    *shape: int, dtype: DTypeLike = np.float32, bias: float = 1e-07
) -> np.ndarray:
    """Returns increasing numbers around zero, none of which is zero.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.
        bias (float): Number that is added to all.

    """
    return _centered(shape, dtype) + np.asarray(bias, dtype)


def positive_increasing(
    *shape: int, dtype: DTypeLike = np.float32, bias: float = 1e-07
) -> np.ndarray:
    """Returns increasing positive numbers.

    Args:
        shape (int): Lengths of the axes.
        dtype: Dtype.
        bias (float): The first of them.

    """
    return shaped_range(*shape, dtype=dtype) + np.asarray(bias, dtype)
