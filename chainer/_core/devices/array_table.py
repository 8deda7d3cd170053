"""The rows of the table of array kinds: the backends, variables and what is no array."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy

import chainerx
from chainer._core.devices.array_kinds import KINDS, TABLE, Kind, array_of_variable, variable_class
from chainer.backends import _cupy, _cupy_absent, _transfer, intel64
from chainer.backends._chainerx import ChainerxDevice
from chainer.backends._cpu import CpuDevice
from chainer.backends._gpu_device import GpuDevice, get_device_or_current

if TYPE_CHECKING:
    from chainer._core.devices.device import Device
    from chainer._core.settings.types import Xp

#: The device of all NumPy arrays.
CPU = CpuDevice()


def _cupy_class() -> type[Any]:
    # Arrays of CuPy exist only after an import of CuPy, and a scalar is no reason to import it.
    is_loaded = 'cupy' in sys.modules or 'ndarray' in vars(_cupy.public)
    found: type[Any] = _cupy.public.ndarray if is_loaded else _cupy_absent.ndarray
    return found


def _xp_by_cupy(obj: Any) -> Xp:
    """Asks CuPy, which has more classes than that of its arrays, such as sparse matrices."""
    if 'cupy' in sys.modules and _cupy.public.available:
        return _cupy.public.cupy.get_array_module(obj)
    return numpy


def _device_of_cupy(array: Any) -> Device:
    return CPU if array.device is None else GpuDevice(array.device)


def _device_of_chainerx(array: Any) -> Device:
    return ChainerxDevice(array.device)


def _xp_of_variable(variable: Any) -> Xp:
    array = array_of_variable(variable)
    return KINDS[type(array)].xp_of(array)


def _device_of_variable(variable: Any) -> Device:
    array = array_of_variable(variable)
    return KINDS[type(array)].device_of(array)


def _assign_numpy(dst: Any, src: Any) -> None:
    numpy.copyto(dst, CPU.send(src))


def _assign_ideep(dst: Any, src: Any) -> None:
    intel64.ideep.basic_copyto(dst, CPU.send(src))


def _assign_cupy(dst: Any, src: Any) -> None:
    with dst.device:
        _cupy.public.cupy.copyto(dst, GpuDevice(dst.device).send(src))


def _assign_chainerx(dst: Any, src: Any) -> None:
    dst[...] = ChainerxDevice(dst.device).send(src)


def _refuse(dst: Any, src: Any) -> NoReturn:
    raise TypeError(f'dst must be an array, not {type(dst)}')


TABLE += [
    Kind(
        array_class=lambda: numpy.ndarray,
        is_available=lambda: True,
        xp_of=lambda array: numpy,
        device_of=lambda array: CPU,
        to_numpy=lambda array: array,
        assign=_assign_numpy,
        name='numpy',
        current_device=lambda: CPU,
    ),
    Kind(
        array_class=lambda: intel64.mdarray,
        is_available=intel64.is_ideep_available,
        xp_of=lambda array: numpy,
        device_of=lambda array: intel64.Intel64Device(),
        to_numpy=numpy.array,
        assign=_assign_ideep,
        name='intel64',
        current_device=intel64.Intel64Device,
    ),
    Kind(
        array_class=_cupy_class,
        is_available=lambda: _cupy.public.available,
        xp_of=_xp_by_cupy,
        device_of=_device_of_cupy,
        to_numpy=_transfer.cupy_to_numpy,
        assign=_assign_cupy,
        name='cupy',
        current_device=lambda: GpuDevice(get_device_or_current(None)),
        device_of_index=GpuDevice.from_device_id,
    ),
    Kind(
        array_class=lambda: chainerx.ndarray,
        is_available=chainerx.is_available,
        xp_of=lambda array: chainerx,
        device_of=_device_of_chainerx,
        to_numpy=_transfer.chainerx_to_numpy,
        assign=_assign_chainerx,
    ),
    Kind(
        array_class=variable_class,
        is_available=lambda: False,
        xp_of=_xp_of_variable,
        device_of=_device_of_variable,
        to_numpy=_transfer.scalar_to_numpy,
        assign=_refuse,
    ),
    Kind(
        array_class=lambda: object,
        is_available=lambda: False,
        xp_of=_xp_by_cupy,
        device_of=lambda obj: CPU,
        to_numpy=_transfer.scalar_to_numpy,
        assign=_refuse,
    ),
]
