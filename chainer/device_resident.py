"""Objects whose arrays move between devices."""

from __future__ import annotations

import abc
import warnings
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer.backends import _gpu_device, cuda, intel64
from chainer.utils import meta
from chainerx import _availability

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer._core.devices.types import CudaDeviceSpec, DeviceSpec
    from chainer._core.settings.types import NdArray, Xp
    from chainer.backend import Device
    from chainer.variable import Variable

    _FinalBase = abc.ABC
else:
    _FinalBase = meta.enable_final(meta_base=abc.ABCMeta)


class DeviceResident(_FinalBase):
    """Base class of objects with arrays on a device, such as links.

    Subclasses override :meth:`device_resident_accept` to show their arrays to visitors. All
    ``to_*`` methods work in place and return the object itself.

    .. admonition:: Example

        >>> class Codebook(chainer.DeviceResident):
        ...     def __init__(self, vectors):
        ...         super().__init__()
        ...         self.vectors = vectors
        ...     def device_resident_accept(self, visitor):
        ...         super().device_resident_accept(visitor)
        ...         self.vectors = visitor.visit_array(self.vectors)
        >>> book = Codebook(np.zeros((2, 3), np.float32)).to_device('@numpy')
        >>> book.device, type(book.vectors) is book.xp.ndarray
        (<CpuDevice (numpy)>, True)

    """

    if TYPE_CHECKING:
        _device: Device
    else:
        _device = None  # before `__init__`

    def __init__(self) -> None:
        self._device = backend.CpuDevice()

    @property
    def _overridden_to_methods(self) -> list[str]:
        """Names of methods that old classes override to move more arrays."""
        cls = type(self)
        return [
            name
            for name in ('to_cpu', 'to_gpu', 'to_intel64')
            if getattr(cls, name) is not getattr(DeviceResident, name)
        ]

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows the object and its arrays to a visitor.

        Overriding methods call this one first, then ``visitor.visit_array`` (whose result replaces
        the array), ``visitor.visit_variable`` or the ``device_resident_accept`` of children.

        Args:
            visitor (DeviceResidentsVisitor): Visitor.

        """
        visitor.visit_device_resident(self)

    @property
    def device(self) -> Device:
        """:class:`~chainer.backend.Device` of the object."""
        return self._device

    @property
    def xp(self) -> Xp:
        """Array module of the device: ``numpy``, ``cupy`` or ``chainerx``."""
        device = self.device
        return None if device is None else device.xp

    @meta.final(action=DeprecationWarning)
    def to_cpu(self) -> Self:
        """Moves the arrays to the CPU, as NumPy arrays.

        .. deprecated:: v7.0.0
            Use :meth:`to_device`.

        Returns:
            The object itself.

        """
        _warn_of('to_cpu')
        return self._visit(_ToDeviceVisitor(backend.CpuDevice(), ('to_cpu', {}), self))

    @meta.final(action=DeprecationWarning)
    def to_gpu(self, device: CudaDeviceSpec | None = None) -> Self:
        """Moves the arrays to a GPU, as CuPy arrays; arrays on any GPU stay there.

        .. deprecated:: v7.0.0
            Use :meth:`to_device`.

        Args:
            device: CUDA device or its id; the current device by default.

        Returns:
            The object itself.

        Raises:
            RuntimeError: If CUDA is not available.

        """
        _warn_of('to_gpu')
        cuda_device = _gpu_device.get_device_or_current(device)
        return self._visit(
            _ToDeviceVisitor(
                cuda.GpuDevice(cuda_device),
                ('to_gpu', {'device': cuda_device.id}),
                self,
                skip_between_cupy_devices=True,
            )
        )

    @meta.final(action=DeprecationWarning)
    def to_intel64(self) -> Self:
        """Moves the arrays to the CPU, as iDeep arrays where that helps.

        Returns:
            The object itself.

        Raises:
            RuntimeError: If iDeep is not available.

        """
        intel64.check_ideep_available()
        return self._visit(
            _ToDeviceVisitor(backend.get_device('@intel64'), ('to_intel64', {}), self)
        )

    def to_chx(self) -> Self:
        """Converts the arrays to ChainerX without copying.

        Returns:
            The object itself.

        Raises:
            RuntimeError: If ChainerX is not built.

        """
        if not chainerx.is_available():
            raise RuntimeError(_availability.message())
        return self._visit(_ToChxVisitor())

    def from_chx(self) -> Self:
        """Converts the arrays from ChainerX to NumPy or CuPy without copying.

        Returns:
            The object itself.

        """
        return self._visit(_FromChxVisitor())

    def to_device(self, device: DeviceSpec) -> Self:
        """Moves the arrays to a device.

        Args:
            device: Device specifier; see :func:`chainer.get_device`.

        Returns:
            The object itself.

        """
        return self._visit(_ToDeviceVisitor(backend.get_device(device)))

    def _visit(self, visitor: DeviceResidentsVisitor) -> Self:
        self.device_resident_accept(visitor)
        return self


def _warn_of(method: str) -> None:
    warnings.warn(
        f'{method} is deprecated. Use to_device instead.', DeprecationWarning, stacklevel=3
    )


class DeviceResidentsVisitor:
    """Base class of visitors of device residents, their variables and arrays.

    .. admonition:: Example

        >>> from chainer.device_resident import DeviceResidentsVisitor
        >>> class CountParameters(DeviceResidentsVisitor):
        ...     n = 0
        ...     def visit_device_resident(self, device_resident):
        ...         pass
        ...     def visit_variable(self, param):
        ...         self.n += 1
        >>> visitor = CountParameters()
        >>> chainer.Sequential(L.Linear(2, 3), L.Linear(3, 4)).device_resident_accept(visitor)
        >>> visitor.n
        4

    """

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        """Called with each object.

        Args:
            device_resident (~chainer.DeviceResident): Object, e.g. a link.

        """
        raise NotImplementedError

    def visit_array(self, arr: NdArray) -> Any:
        """Called with each array; returns its replacement.

        Args:
            arr (:ref:`ndarray`): Array.

        """
        raise NotImplementedError

    def visit_variable(self, param: Variable) -> None:
        """Called with each :class:`~chainer.Variable`, to change in place.

        Args:
            param (~chainer.Variable): Variable, mostly a parameter.

        """
        raise NotImplementedError


class _ToDeviceVisitor(DeviceResidentsVisitor):
    """Moves everything to a device.

    Args:
        device: Destination.
        entry: Name and keyword arguments of the method that the user called.
        start: Object of that method.
        skip_between_cupy_devices: Whether arrays on another GPU stay.

    """

    def __init__(
        self,
        device: Device,
        entry: tuple[str, dict[str, Any]] | None = None,
        start: Any = None,
        skip_between_cupy_devices: bool = False,
    ) -> None:
        self._device = device
        self._entry = entry or self._get_entry(device)
        self._start = start
        self._skip_between_cupy_devices = skip_between_cupy_devices

    @staticmethod
    def _get_entry(device: Device) -> tuple[str | None, dict[str, Any]]:
        if isinstance(device, backend.GpuDevice):
            return 'to_gpu', {'device': device.device.id}
        if isinstance(device, backend.CpuDevice):
            return 'to_cpu', {}
        if isinstance(device, backend.Intel64Device):
            return 'to_intel64', {}
        return None, {}

    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        device_resident._device = self._device
        name, kwargs = self._entry
        # A class may move more arrays in an overridden method, which usually calls the super
        # method. That call comes back here, with the object as the start.
        if device_resident is not self._start and name in device_resident._overridden_to_methods:
            getattr(device_resident, name)(**kwargs)

    def visit_array(self, arr: NdArray) -> Any:
        return arr if self._stays(backend.get_device_from_array(arr)) else self._device.send(arr)

    def visit_variable(self, param: Variable) -> None:
        if not self._stays(param.device):
            param.to_device(self._device)

    def _stays(self, device: Device) -> bool:
        return self._skip_between_cupy_devices and isinstance(device, backend.GpuDevice)


class _ToChxVisitor(DeviceResidentsVisitor):
    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        device = device_resident._device
        if not isinstance(device, backend.ChainerxDevice):
            device_resident._device = backend.ChainerxDevice.from_fallback_device(device)

    def visit_array(self, arr: NdArray) -> Any:
        return backend.to_chx(arr)

    def visit_variable(self, param: Variable) -> None:
        param.to_chx()


class _FromChxVisitor(DeviceResidentsVisitor):
    def visit_device_resident(self, device_resident: DeviceResident) -> None:
        device = device_resident._device
        if isinstance(device, backend.ChainerxDevice):
            device_resident._device = device.fallback_device

    def visit_array(self, arr: NdArray) -> Any:
        return backend.from_chx(arr)

    def visit_variable(self, param: Variable) -> None:
        param.from_chx()
