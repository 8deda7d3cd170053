"""Devices and files of a link: moving, saving and loading its parameters and values."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer import backend, device_resident, variable
from chainer._core.devices.array_types import get_array_types
from chainer._core.models import saving
from chainer._core.models.link_registry import LinkRegistry

if TYPE_CHECKING:
    from chainer.device_resident import DeviceResidentsVisitor
    from chainer.serializer import AbstractSerializer
    from chainer.variable import Parameter


class LinkStorage(LinkRegistry):
    """Link whose parameters and persistent values are on a device, and go to files."""

    @property
    def _device_id(self) -> Any:
        """Id of the CUDA device, or ``None``: the predecessor of ``device``."""
        warnings.warn(
            'Link._device_id is left only for backward compatibility and likely to be removed. '
            'Use Link.device instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        device = self.device
        return device.device.id if isinstance(device, backend.GpuDevice) else None

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        d = self.__dict__
        for name in sorted(self._params):
            visitor.visit_variable(d[name])
        arrays = get_array_types()
        for name in sorted(self._persistent):
            value = d[name]
            if isinstance(value, arrays):
                d[name] = visitor.visit_array(value)
            elif isinstance(value, variable.Variable):
                visitor.visit_variable(value)
            elif isinstance(value, device_resident.DeviceResident):
                value.device_resident_accept(visitor)
        for _, child in self._named_children():
            child.device_resident_accept(visitor)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the parameters and persistent values.

        Args:
            serializer (~chainer.AbstractSerializer): Serializer or
                deserializer. A loaded value initializes an uninitialized
                parameter.

        """
        d = self.__dict__
        saving.remember(serializer, self)
        for name in sorted(self._params):
            param = d[name]
            if param._part is not None:
                param._part.check_saving(name)
            data = serializer(name, param.array)
            if data is not None and not param.is_initialized:
                _initialize_by_loading(param, data, serializer)
        arrays = get_array_types()
        for name in sorted(self._persistent):
            value = serializer(name, d[name])
            if d[name] is None and isinstance(value, arrays):
                value = self.device.send(value)
            d[name] = value
        for name, child in self._named_children():
            child.serialize(serializer[name])


def _initialize_by_loading(param: Parameter, data: Any, serializer: AbstractSerializer) -> None:
    journal = getattr(serializer, '_journal', None)
    if journal is not None:

        def undo() -> None:
            param.array = None

        journal.append(undo)
    param.initialize(data.shape)
    backend.copyto(param.array, data.astype(param.dtype, copy=False))
