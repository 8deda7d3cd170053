"""Conversion of single arrays among NumPy, CuPy and ChainerX."""

from __future__ import annotations

from typing import Any

import numpy

import chainerx
from chainer._core.devices.array_kinds import KINDS
from chainer.backends import _cupy, _streams
from chainerx import _availability, _internal


def to_cpu(array: Any) -> Any:
    """Converts an array to NumPy, without a copy if it can share memory."""
    return KINDS[type(array)].to_numpy(array)


def cupy_to_numpy(array: Any) -> Any:
    with array.device:
        return array.get()


def chainerx_to_numpy(array: chainerx.ndarray) -> Any:
    shares_memory = array.device.backend.name == 'native'
    return chainerx.to_numpy(array.as_grad_stopped(), copy=not shares_memory)


def scalar_to_numpy(obj: object) -> Any:
    """Converts a scalar to an array, and keeps ``None``."""
    if obj is None:
        return None
    if isinstance(obj, (numpy.number, numpy.bool_, int, float, complex)):
        return numpy.asarray(obj)
    raise TypeError(
        'The array sent to cpu must be a numpy.ndarray, a cupy.ndarray, a chainerx.ndarray or a '
        f'scalar.\nActual type: {type(obj)}.'
    )


def _host_array(obj: Any, target: str) -> Any:
    """Converts an array of any kind, or a NumPy scalar, to NumPy."""
    kind = KINDS[type(obj)]
    if not kind.is_available() and not isinstance(obj, (numpy.number, numpy.bool_)):
        raise TypeError(f'The array sent to {target}.\nActual type: {type(obj)}.')
    return kind.to_numpy(obj)


def to_gpu(array: Any, device: Any, stream: Any = None) -> Any:
    """Converts an array to CuPy, on a CUDA device."""
    if array is None:
        return None
    array = from_chainerx(array)
    if isinstance(array, _cupy.public.ndarray):
        if array.device == device:
            return array
    elif not isinstance(array, numpy.ndarray):
        array = _host_array(array, 'gpu must be an array or a NumPy scalar')
    with device:
        if stream is None or stream.ptr == 0:
            return _cupy.public.cupy.array(array)
        with stream:
            return _copy_in_stream(array, stream)


def _copy_in_stream(array: Any, stream: Any) -> Any:
    if not isinstance(array, numpy.ndarray):
        return array.copy()
    result = _cupy.public.cupy.empty(array.shape, array.dtype)
    result.set(numpy.ascontiguousarray(array), stream)
    return result


def to_chainerx(array: Any, device: chainerx.Device | None = None) -> Any:
    """Converts an array to ChainerX, by default on the device that shares its memory."""
    if array is None or isinstance(array, chainerx.ndarray):
        if array is None or device is None or array.device is device:
            return array
        return array.to_device(device)
    if not chainerx.is_available():
        raise RuntimeError(_availability.message())
    if isinstance(array, _cupy.public.ndarray):
        return _cupy_to_chainerx(array, device)
    if not isinstance(array, numpy.ndarray):
        target = 'ChainerX must be a NumPy, CuPy or ChainerX array, or a NumPy scalar'
        array = _host_array(array, target)
    if device is None:
        return chainerx.array(array, device='native:0', copy=False)
    return chainerx.array(array, device=device, copy=device.backend.name != 'native')


def _cupy_to_chainerx(array: Any, device: chainerx.Device | None) -> chainerx.ndarray:
    own_device = chainerx.get_device('cuda', array.device.id)
    keeper = _streams.lend_to_chainerx(array, own_device)
    chx_array = view_of_cupy(array, own_device, keeper)
    return chx_array if device is None else chx_array.to_device(device)


def from_chainerx(array: Any) -> Any:
    """Converts a ChainerX array to the NumPy or CuPy array that shares its memory."""
    if not isinstance(array, chainerx.ndarray):
        return array
    backend_name = array.device.backend.name
    if backend_name == 'native':
        return chainerx.to_numpy(array.as_grad_stopped(), copy=False)
    if backend_name == 'cuda':
        return _cuda_from_chainerx(array)
    raise RuntimeError(
        "Only arrays of 'native' or 'cuda' devices can be converted from ChainerX: "
        f'{array.device.name}'
    )


def view_of_cupy(array: Any, device: chainerx.Device, keeper: object) -> chainerx.ndarray:
    """ChainerX array over the memory of a CuPy array, which ``keeper`` keeps."""
    pointer = array.data
    memory = pointer.mem
    return _internal.fromrawpointer(
        memory.ptr,
        array.shape,
        array.dtype,
        array.strides,
        device,
        pointer.ptr - memory.ptr,
        keeper,
    )


def _cuda_from_chainerx(array: chainerx.ndarray) -> Any:
    _cupy.check_cuda_available()
    return cupy_view(array, _streams.lend_to_cupy(array))


def cupy_view(array: chainerx.ndarray, keeper: object) -> Any:
    """CuPy array over the memory of a ChainerX array, which ``keeper`` keeps."""
    cupy = _cupy.public.cupy
    # Memory that names its device is the same on every current one.
    memory = cupy.cuda.UnownedMemory(
        array.data_ptr + array.offset, array.data_size, keeper, array.device.index
    )
    return cupy.ndarray(
        array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0), strides=array.strides
    )
