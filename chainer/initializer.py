"""The base class of initializers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from chainer._core.settings.dtype import get_dtype

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray


class Initializer:
    """Base class of initializers, which fill an array in place.

    Args:
        dtype: Required data type of arrays (else ``AssertionError``), or ``None`` for any.

    Attributes:
        dtype: Data type specifier, or ``None``.

    Raises:
        TypeError: If the dtype does not exist.

    .. admonition:: Example

        >>> class Ramp(chainer.Initializer):
        ...     def __call__(self, array):
        ...         array[...] = array.dtype.type(0.5) * np.arange(array.size).reshape(array.shape)
        >>> L.Linear(3, 2, initialW=Ramp()).W
        variable W([[0. , 0.5, 1. ],
                    [1.5, 2. , 2.5]])

    """

    dtype: DTypeSpec = None

    def __init__(self, dtype: DTypeSpec = None) -> None:
        if dtype is not None:
            get_dtype(dtype)
        self.dtype = dtype

    def __call__(self, array: NdArray) -> None:
        """Fills an array.

        Args:
            array (:ref:`ndarray`): Array to fill.

        """
        raise NotImplementedError

    def _check_dtype(self, array):
        if self.dtype is not None and array.dtype != self.dtype:
            raise AssertionError(
                f'{type(self).__name__} initializes arrays of dtype {numpy.dtype(self.dtype)}, '
                f'but an array of dtype {array.dtype} was given'
            )


def get_fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns the number of inputs and outputs of one weight array.

    Args:
        shape (tuple of ints): Shape of the weight array: outputs, inputs, and
            the axes of a filter, if any.

    Returns:
        tuple: Fan-in and fan-out.

    Raises:
        ValueError: If ``shape`` is not a tuple, or has less than two elements.

    .. admonition:: Example

        >>> from chainer import initializer
        >>> initializer.get_fans((8, 3, 5, 5))
        (75, 200)

    """
    if not isinstance(shape, tuple):
        raise ValueError(f'shape must be tuple, but {shape!r} was given')
    if len(shape) < 2:
        raise ValueError(f'shape must be of length >= 2: shape={shape}')
    receptive_field_size = math.prod(shape[2:])
    return shape[1] * receptive_field_size, shape[0] * receptive_field_size
