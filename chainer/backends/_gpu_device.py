"""Devices of CuPy as Chainer's. The public names are in ``cuda`` and ``backend``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.devices import device as _backend
from chainer._core.names.set_module import set_module
from chainer.backends import _cupy, _transfer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chainer._core.devices.types import CudaDeviceSpec
    from chainer._core.settings.types import Xp
    from chainer.backends._cupy_absent import Device

INTEGER_TYPES = (int, numpy.integer)


@set_module('chainer.backends.cuda')
class GpuDevice(_backend.Device):
    """Device of CuPy.

    Args:
        device: :class:`cupy.cuda.Device`.

    Attributes:
        device: The underlying :class:`cupy.cuda.Device`.

    Raises:
        RuntimeError: If CUDA is not available.
        TypeError: If ``device`` has another type.

    .. admonition:: Example

        >>> device = chainer.get_device('@cupy:0')  # doctest: +SKIP
        >>> device, device.xp.__name__  # doctest: +SKIP
        (<GpuDevice (cupy):0>, 'cupy')

    """

    def __init__(self, device: Device) -> None:
        _cupy.check_cuda_available()
        if not isinstance(device, _cupy.public.Device):
            raise TypeError(f'device must be a cupy.cuda.Device, not {type(device)}')
        self.device = device

    @property
    def xp(self) -> Xp:
        return _cupy.public.cupy

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        return (_cupy.public.ndarray,)

    @staticmethod
    def from_device_id(device_id: int) -> GpuDevice:
        """Returns the device of a CUDA device id.

        Args:
            device_id (int): Id of a CUDA device.

        Returns:
            ~chainer.backend.GpuDevice: Device.

        Raises:
            ValueError: If the id is not a nonnegative integer.
            RuntimeError: If CUDA is not available.

        """
        if not isinstance(device_id, INTEGER_TYPES) or device_id < 0:
            raise ValueError(f'Invalid CUDA device ID: {device_id!r}')
        _cupy.check_cuda_available()
        return GpuDevice(_cupy.public.Device(int(device_id)))

    @staticmethod
    def from_array(array: object) -> GpuDevice | None:
        """Returns the device of ``array``, or ``None`` if it is not a CuPy array."""
        if isinstance(array, _cupy.public.ndarray) and array.device is not None:
            return GpuDevice(array.device)
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GpuDevice) and other.device == self.device

    def __hash__(self) -> int:
        return hash((GpuDevice, self.device.id))

    def __repr__(self) -> str:
        return f'<{type(self).__name__} (cupy):{self.device.id}>'

    @property
    def name(self) -> str:
        return f'@cupy:{self.device.id}'

    def create_context(self) -> AbstractContextManager[Any]:
        # A device object restores the previous device once per entry, so contexts get their own.
        return _cupy.public.Device(self.device.id)

    def use(self) -> None:
        self.device.use()

    def is_array_supported(self, array: object) -> bool:
        return isinstance(array, _cupy.public.ndarray) and self.device == array.device

    def send_array(self, array: Any) -> Any:
        return _transfer.to_gpu(array, self.device)


def get_device_or_current(device: CudaDeviceSpec | None) -> Device:
    """Resolves the ``device`` argument of ``to_gpu``: an id, a CUDA device, or ``None``."""
    _cupy.check_cuda_available()
    if device is None:
        return _cupy.public.Device()
    if isinstance(device, _cupy.public.Device):
        return device
    if isinstance(device, INTEGER_TYPES) and device >= 0:
        return _cupy.public.Device(int(device))
    raise ValueError(
        'Invalid CUDA device specifier: it must be a nonnegative integer or a cupy.cuda.Device, '
        f'not {device!r}'
    )
