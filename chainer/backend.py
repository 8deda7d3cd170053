"""Devices and arrays of all modules."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.devices.array_kinds import KINDS as _KINDS, TABLE as _TABLE
from chainer._core.devices.array_table import CPU as _cpu_device
from chainer._core.devices.device import Device as Device
from chainer.backends import _gpu_device, cuda as cuda, intel64 as intel64
from chainer.backends._chainerx import (  # noqa: F401
    ChainerxDevice as ChainerxDevice,
    from_chx as from_chx,
    to_chx as to_chx,
)
from chainer.backends._cpu import CpuDevice as CpuDevice  # noqa: F401
from chainer.backends.cuda import GpuDevice as GpuDevice, get_array_module as get_array_module  # noqa: F401
from chainer.backends.intel64 import Intel64Device as Intel64Device  # noqa: F401
from chainerx import _availability

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import ModuleType

    from chainer._core.devices.types import DeviceSpec
    from chainer._core.settings.types import NdArray

_SPEC_HELP = (
    "Device specifiers are '@numpy', '@cupy:0' (or any GPU id), '@intel64', ChainerX devices such "
    "as 'native:0' and 'cuda:0', a GPU id (negative for the CPU), (module, id) and "
    '(ChainerX backend name, index) tuples, the numpy and cupy modules, and device objects.'
)


def copyto(dst: NdArray, src: NdArray) -> None:
    """Copies the elements of an array to another one, of any module and device.

    Casts ``src`` to the dtype of ``dst`` and broadcasts it to its shape.

    Args:
        dst: Destination array: NumPy, CuPy, iDeep or ChainerX.
        src: Source array, also of another module.

    Raises:
        TypeError: If an array has none of these types.

    .. admonition:: Example

        >>> x = np.zeros((2, 3), np.float32)
        >>> chainer.backend.copyto(x, np.array([1, 2, 3]))
        >>> x
        array([[1., 2., 3.],
               [1., 2., 3.]], dtype=float32)

    """
    _KINDS[type(dst)].assign(dst, src)


def get_device_from_array(*arrays: Any) -> Device:
    """Gets the device of the first array that is on an accelerator or of ChainerX.

    Args:
        arrays: Arrays or variables.

    Returns:
        Device: Device; that of NumPy if there is no such array.

    .. admonition:: Example

        >>> chainer.backend.get_device_from_array(np.zeros(2))
        <CpuDevice (numpy)>

    """
    for array in arrays:
        if type(array) is not numpy.ndarray:  # most are
            device = _KINDS[type(array)].device_of(array)
            if device is not _cpu_device:
                return device
    return _cpu_device


def get_device(device_spec: DeviceSpec) -> Device:
    """Gets the device for a specifier.

    Args:
        device_spec: One of

            - ``'@numpy'``, ``'@cupy'`` (current GPU), ``'@cupy:0'``, ``'@intel64'``;
            - ``'native:0'``, ``'cuda:0'``, ``'native'``: devices of ChainerX;
            - an integer, or a string of one: a GPU id for CuPy; negative for NumPy;
            - ``(cupy, 0)``, ``(numpy, None)`` or ``('native', 0)``: tuples of a module or the name
              of a ChainerX backend, and an index;
            - the modules ``numpy``, ``cupy`` and ``chainerx``;
            - :class:`Device`, :class:`chainerx.Device` and :class:`cupy.cuda.Device` objects.

    Returns:
        Device: Device.

    Raises:
        TypeError, ValueError: If the specifier is invalid.
        RuntimeError: If the device is not available, with the reason.

    .. admonition:: Example

        >>> chainer.get_device('@numpy')
        <CpuDevice (numpy)>
        >>> chainer.get_device(-1) == chainer.get_device('@numpy')
        True
        >>> chainer.get_device('@nothing')
        Traceback (most recent call last):
            ...
        ValueError: Invalid device specifier: '@nothing'...

    """
    if isinstance(device_spec, Device):
        return device_spec
    if isinstance(device_spec, str):
        return _get_device_from_str(device_spec)
    if isinstance(device_spec, tuple):
        return _get_device_from_tuple(device_spec)
    if isinstance(device_spec, types.ModuleType):
        return _get_device_from_module(device_spec)
    if isinstance(device_spec, _gpu_device.INTEGER_TYPES) and not isinstance(device_spec, bool):
        return _cpu_device if device_spec < 0 else GpuDevice.from_device_id(device_spec)
    if chainerx.is_available() and isinstance(device_spec, chainerx.Device):
        return ChainerxDevice(device_spec)
    if isinstance(device_spec, cuda.Device):
        return GpuDevice(device_spec)
    if isinstance(device_spec, cuda.DummyDeviceType):
        return _cpu_device
    raise TypeError(f'Invalid device specifier: {device_spec!r}\n{_SPEC_HELP}')


def using_device(device_spec: DeviceSpec) -> AbstractContextManager[Any]:
    """Returns a context manager in which a device is current.

    Args:
        device_spec: Device specifier; see :func:`chainer.get_device`.

    .. admonition:: Example

        >>> with chainer.using_device('@numpy'):
        ...     x = chainer.get_device('@numpy').xp.zeros(2)
        >>> x
        array([0., 0.])

    """
    return get_device(device_spec).create_context()


def _get_device_from_str(spec: str) -> Device:
    try:
        index = int(spec)
    except ValueError:
        pass
    else:
        return _cpu_device if index < 0 else GpuDevice.from_device_id(index)
    if not spec.startswith('@'):
        return _get_chainerx_device(spec, spec)
    return _get_named_device(spec)


def _get_named_device(spec: str) -> Device:
    name, colon, number = spec[1:].partition(':')
    kind = next((kind for kind in _TABLE if kind.name == name), None)
    if kind is None or kind.current_device is None:
        raise ValueError(f'Invalid device specifier: {spec!r}\n{_SPEC_HELP}')
    if not colon:
        return kind.current_device()
    if kind.device_of_index is None:
        raise ValueError(f'Invalid device specifier: {spec!r}\n@{name} takes no index.')
    if not number.isdecimal():
        problem = f"'@{name}:' must be followed by a GPU id."
        raise ValueError(f'Invalid device specifier: {spec!r}\n{problem}')
    return kind.device_of_index(int(number))


def _get_device_from_tuple(spec: tuple[Any, ...]) -> Device:
    if spec and isinstance(spec[0], str) and not spec[0].startswith('@'):
        return _get_chainerx_device(spec, *spec)
    if spec and isinstance(spec[0], types.ModuleType):
        module, *index = spec
        if index in ([], [None]):
            return _get_device_from_module(module)
        if module is cuda.cupy and len(index) == 1:
            return GpuDevice.from_device_id(index[0])
        if module.__name__ == 'cupy':
            cuda.check_cuda_available()
    raise TypeError(f'Invalid device specifier: {spec!r}\n{_SPEC_HELP}')


def _get_device_from_module(module: ModuleType) -> Device:
    if module is numpy:
        return _cpu_device
    if module is chainerx:
        return _get_chainerx_device('chainerx')
    if module.__name__ == 'cupy':
        return GpuDevice(_gpu_device.get_device_or_current(None))
    raise ValueError(f'Invalid device specifier: {module!r}\n{_SPEC_HELP}')


_SIMILAR_SPECS = {
    'cpu': "'@numpy' for NumPy, 'native:0' for ChainerX",
    'gpu': "'@cupy:0' for CuPy, 'cuda:0' for ChainerX",
    'numpy': "'@numpy'",
    'cupy': "'@cupy:0'",
    'intel64': "'@intel64'",
    'chainerx': "'native:0', 'cuda:0' or the module chainerx",
}
_SIMILAR_SPECS['cuda'] = "'@cupy:0' for CuPy"


def _suggest(spec: Any) -> str:
    name = (spec[0] if isinstance(spec, tuple) else spec).partition(':')[0]
    similar = _SIMILAR_SPECS.get(name.lower())
    return f'\nDid you mean {similar}?' if similar else ''


def _get_chainerx_device(spec: Any, *args: Any) -> Device:
    if not chainerx.is_available():
        reason = _availability.message()
        raise RuntimeError(
            f'Tried to parse ChainerX device specifier {spec!r}. {reason}. Note that device '
            "specifiers without the '@' prefix are assumed to be ChainerX device specifiers.\n"
            f'{_SPEC_HELP}{_suggest(spec)}'
        )
    if not args:
        return ChainerxDevice(chainerx.get_default_device())
    try:
        return ChainerxDevice(chainerx.get_device(*args))
    except chainerx.BackendError as error:
        if suggestion := _suggest(spec):
            raise chainerx.BackendError(f'{error}{suggestion}') from None
        raise
