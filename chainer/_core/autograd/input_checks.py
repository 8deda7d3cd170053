"""Checks of the arrays that a function gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer._core.autograd.base_function import BaseFunction
from chainer._core.devices.array_types import is_arrays_compatible
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_array_kinds(func: BaseFunction, in_data: Sequence[Any]) -> None:
    """Raises an error unless all arrays are of one module and device."""
    if not is_arrays_compatible(in_data):
        kinds = ', '.join(str(type(x)) for x in in_data)
        devices = ', '.join(str(backend.get_device_from_array(x)) for x in in_data)
        raise TypeError(
            'incompatible array types are mixed in the forward input '
            f'({func.label}).\nActual: {kinds}\nDevices: {devices}\n'
            'All arrays must be on one device: make them with model.xp (xp.asarray and so on), '
            'send them by model.device.send(x), which device= of an updater or an evaluator '
            'does, or move the model by model.to_device(device).'
        )


def check_types(func: BaseFunction, in_data: tuple[Any, ...]) -> None:
    """Runs ``check_type_forward`` of a function, if its class has one."""
    if type(func).check_type_forward is BaseFunction.check_type_forward:
        return
    modes = type_check._thread_local
    modes.light_mode = True
    try:
        # The tuple serves as a `TypeInfoTuple`.
        func.check_type_forward(type_check.LightTypeInfoTuple(in_data))  # type: ignore[arg-type]
        return
    except (type_check.InvalidType, IndexError):
        # A check of `x.shape[1]` may run before the check of `x.ndim` fails.
        pass
    finally:
        modes.light_mode = False
    # The light check failed: repeat it with expressions, for a full message.
    in_types = type_check.get_types(in_data, 'in_types', False)
    with type_check.get_function_check_context(func):
        func.check_type_forward(in_types)
