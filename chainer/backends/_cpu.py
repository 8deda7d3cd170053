from __future__ import annotations

from typing import Any

import numpy

from chainer._core.devices import device as _backend
from chainer.backends import _transfer


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
        return _transfer.to_cpu(array)
