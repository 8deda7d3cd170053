from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend, initializer
from chainer._core.devices.array_types import get_array_types

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray


class _Constant(initializer.Initializer):
    fill_value: float | NdArray

    def __call__(self, array: NdArray) -> None:
        self._check_dtype(array)
        value = self.fill_value
        if not isinstance(value, get_array_types()):
            array.fill(value)
        elif value.shape == array.shape:
            backend.copyto(array, backend.from_chx(value).astype(array.dtype, copy=False))
        else:
            xp = backend.get_array_module(array)
            device = backend.get_device_from_array(array)
            backend.copyto(
                array, xp.broadcast_to(device.send(value).astype(array.dtype), array.shape)
            )


class Identity(initializer.Initializer):
    """Initializes a square matrix with a multiple of the identity matrix.

    Args:
        scale (scalar): Value of the diagonal elements.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        ValueError: The array is not a square matrix.

    .. admonition:: Example

        >>> x = np.empty((2, 2), np.float32)
        >>> chainer.initializers.Identity(scale=3)(x)
        >>> x
        array([[3., 0.],
               [0., 3.]], dtype=float32)

    """

    def __init__(self, scale: float = 1.0, dtype: DTypeSpec = None) -> None:
        super().__init__(dtype)
        self.scale = scale

    def __call__(self, array: NdArray) -> None:
        self._check_dtype(array)
        shape = array.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(
                f'Identity matrix initialization can only be used for 2D square matrices, but '
                f'the shape is {shape}'
            )
        value = numpy.identity(shape[0], dtype=array.dtype)
        value *= self.scale
        backend.copyto(array, value)


class Constant(_Constant):
    """Initializes an array with a constant.

    Args:
        fill_value (scalar or :ref:`ndarray`): The constant. An array is
            broadcast to the shape of the initialized array.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> x = np.empty((2, 3), np.float32)
        >>> chainer.initializers.Constant(np.array([1, 2, 3]))(x)
        >>> x
        array([[1., 2., 3.],
               [1., 2., 3.]], dtype=float32)

    """

    def __init__(self, fill_value: float | NdArray, dtype: DTypeSpec = None) -> None:
        super().__init__(dtype)
        self.fill_value = fill_value


class Zero(_Constant):
    """Initializes an array with zeros.

    Args:
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> L.Linear(3, 1, initialW=chainer.initializers.Zero()).W
        variable W([[0., 0., 0.]])

    """

    fill_value: float = 0.0


class One(_Constant):
    """Initializes an array with ones.

    Args:
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> L.Linear(3, 1, initialW=chainer.initializers.One()).W
        variable W([[1., 1., 1.]])

    """

    fill_value: float = 1.0


class NaN(_Constant):
    """Initializes an array with NaNs, to expose missing values.

    Args:
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        TypeError: If ``dtype`` is no dtype.
        AssertionError: At the call, if the array has another dtype than ``dtype``.

    .. admonition:: Example

        >>> L.Linear(3, 1, initialW=chainer.initializers.NaN()).W
        variable W([[nan, nan, nan]])

    """

    fill_value: float = numpy.nan
