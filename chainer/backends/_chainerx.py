from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.devices import device as _backend
from chainer.backends import _cpu, _transfer, cuda

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chainer.backend import Device


class ChainerxDevice(_backend.Device):
    """Device of ChainerX.

    Args:
        device (chainerx.Device): Device object of ChainerX.

    Attributes:
        device: The underlying :class:`chainerx.Device`.

    .. admonition:: Example

        >>> device = chainer.get_device('native:0')
        >>> device, device.xp.__name__, device.fallback_device
        (<ChainerxDevice native:0>, 'chainerx', <CpuDevice (numpy)>)
        >>> device.send(np.zeros(2, np.float32)).device.name
        'native:0'

    """

    xp = chainerx
    supported_array_types: tuple[type, ...] = (chainerx.ndarray,)

    def __init__(self, device: chainerx.Device) -> None:
        if not isinstance(device, chainerx.Device):
            raise TypeError(f'device must be a chainerx.Device, not {type(device)}')
        self.device = device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainerxDevice) and other.device == self.device

    def __hash__(self) -> int:
        return hash((ChainerxDevice, self.device.name))

    def __repr__(self) -> str:
        return f'<{type(self).__name__} {self.device.name}>'

    @property
    def name(self) -> str:
        return self.device.name

    @staticmethod
    def from_array(array: object) -> ChainerxDevice | None:
        """Returns the device of ``array``, or ``None`` if it is not a ChainerX array."""
        return ChainerxDevice(array.device) if isinstance(array, chainerx.ndarray) else None

    @staticmethod
    def from_fallback_device(device: Device) -> ChainerxDevice:
        """Returns the ChainerX device that shares its memory with a NumPy or CuPy device.

        Args:
            device: :class:`~chainer.backend.CpuDevice`, ``Intel64Device`` or ``GpuDevice``.

        """
        if isinstance(device, ChainerxDevice):
            raise TypeError(f'device is a ChainerX device already: {device}')
        if isinstance(device, cuda.GpuDevice):
            return ChainerxDevice(chainerx.get_device('cuda', device.device.id))
        if isinstance(device, _backend.Device):
            return ChainerxDevice(chainerx.get_device('native', 0))
        raise TypeError(f'device must be a chainer.backend.Device, not {type(device)}')

    @property
    def fallback_device(self) -> Device:
        """NumPy or CuPy device that shares its memory with this device."""
        backend_name = self.device.backend.name
        if backend_name == 'native':
            return _cpu.CpuDevice()
        if backend_name == 'cuda':
            return cuda.GpuDevice.from_device_id(self.device.index)
        raise RuntimeError(
            "Only 'native' or 'cuda' devices have corresponding fallback devices: "
            f'{self.device.name}'
        )

    def create_context(self) -> AbstractContextManager[Any]:
        return chainerx.using_device(self.device)

    def use(self) -> None:
        chainerx.set_default_device(self.device)

    def is_array_supported(self, array: object) -> bool:
        return isinstance(array, chainerx.ndarray) and self.device == array.device

    def send_array(self, array: Any) -> Any:
        if isinstance(array, chainerx.ndarray):
            return array if array.device is self.device else array.to_device(self.device)
        return _transfer.to_chainerx(array, self.device)


def to_chx(array: Any) -> Any:
    """Converts arrays to ChainerX without copying.

    NumPy arrays go to ``native:0`` and CuPy arrays to the ``cuda`` device of their GPU.

    Args:
        array: Array, ``None``, or lists, tuples and dictionaries of them.

    Returns:
        ChainerX arrays in the same structure.

    .. admonition:: Example

        >>> x = np.zeros(2, np.float32)
        >>> y, none = chainer.backend.to_chx([x, None])
        >>> y.device.name, none is None
        ('native:0', True)
        >>> y += 1
        >>> x  # the memory is shared
        array([1., 1.], dtype=float32)

    """
    return _backend.convert_arrays(array, _transfer.to_chainerx)


def from_chx(array: Any) -> Any:
    """Converts ChainerX arrays to NumPy or CuPy without copying.

    Args:
        array: Array, ``None``, or lists, tuples and dictionaries of them. Keeps arrays of other
            modules.

    Returns:
        NumPy or CuPy arrays in the same structure.

    .. admonition:: Example

        >>> x = chainerx.zeros(2, dtype=np.float32)
        >>> chainer.backend.from_chx({'x': x, 'y': np.ones(1)})
        {'x': array([0., 0.], dtype=float32), 'y': array([1.])}

    """
    return _backend.convert_arrays(array, _transfer.from_chainerx)
