from __future__ import annotations

from typing import Any

import numpy

import chainerx
from chainer import _backend
from chainer.backends import _chainerx, cuda, intel64


class CpuDevice(_backend.Device):
    """Device of NumPy.

    .. admonition:: Example

        >>> device = chainer.backend.CpuDevice()
        >>> device, device.xp is np
        (<CpuDevice (numpy)>, True)
        >>> device == chainer.get_device('@numpy')
        True

    """

    name = '@numpy'
    xp = numpy
    supported_array_types: tuple[type, ...] = (numpy.ndarray,)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} (numpy)>'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CpuDevice)

    def __hash__(self) -> int:
        return hash(CpuDevice)

    @staticmethod
    def from_array(array: object) -> CpuDevice | None:
        """Returns the device if ``array`` is a NumPy array, else ``None``."""
        return CpuDevice() if isinstance(array, numpy.ndarray) else None

    def is_array_supported(self, array: object) -> bool:
        return isinstance(array, numpy.ndarray)

    def send_array(self, array: Any) -> Any:
        return _array_to_cpu(array)


def _to_cpu(array):
    """Converts arrays, nested in lists, tuples and dictionaries, to NumPy arrays."""
    return _backend.convert_arrays(array, _array_to_cpu)


def _array_to_cpu(array):
    if array is None or isinstance(array, numpy.ndarray):
        return array
    if isinstance(array, (numpy.number, numpy.bool_)):
        return numpy.asarray(array)
    if isinstance(array, chainerx.ndarray):
        if array.device.backend.name == 'cuda':
            return _array_to_cpu(_chainerx._array_from_chx(array))
        return chainerx.to_numpy(array.as_grad_stopped(), copy=False)
    if isinstance(array, intel64.mdarray):
        return numpy.array(array)
    if isinstance(array, cuda.ndarray):
        with array.device:
            return array.get()
    raise TypeError(
        'The array sent to cpu must be a numpy.ndarray, a cupy.ndarray, a chainerx.ndarray or a '
        f'NumPy scalar.\nActual type: {type(array)}.'
    )
