"""Conversion of NumPy, CuPy and ChainerX arrays to contiguous host memory, for MPI, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

import chainerx
from chainer import backend
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Iterable


class Spec(NamedTuple):
    """Description of an array, which its receiver allocates memory from."""

    shape: tuple[int, ...]
    dtype: str
    device: str  # name of the kind of device, without its number


def is_array(value: Any) -> bool:
    """Tells whether a value is an array of NumPy, CuPy or ChainerX."""
    return isinstance(value, (numpy.ndarray, cuda.ndarray, chainerx.ndarray))


def check_array(value: Any, call: str, argument: str) -> None:
    """Raises an error unless a value is an array that can be sent.

    Raises:
        TypeError: If it is not.

    """
    if not is_array(value):
        raise TypeError(
            f'{call}: {argument} must be an array of NumPy, CuPy or ChainerX, not '
            f'{type(value).__name__}'
        )
    if value.dtype.kind not in 'biufc':
        raise TypeError(f'{call}: {argument} must be of numbers, not of dtype {value.dtype}')


def check_arrays(values: Any, call: str, argument: str, count: int | None = None) -> None:
    """Raises an error unless a value is a sequence of ``count`` arrays.

    Raises:
        TypeError: If it is no sequence of arrays.
        ValueError: If there are not ``count``.

    """
    if not isinstance(values, (tuple, list)):
        raise TypeError(f'{call}: {argument} must be a tuple, not {type(values).__name__}')
    for i, value in enumerate(values):
        check_array(value, call, f'{argument}[{i}]')
    if count is not None and len(values) != count:
        raise ValueError(
            f'{call}: {argument} must have one array for each of {count} ranks, not {len(values)}'
        )


def spec_of(array: Any) -> Spec:
    """Describes an array to the rank that receives it."""
    kind = '@numpy'
    if isinstance(array, chainerx.ndarray):
        kind = array.device.backend.name
    elif not isinstance(array, numpy.ndarray):
        kind = '@cupy'
    return Spec(tuple(array.shape), numpy.dtype(array.dtype).name, kind)


def plain(array: Any) -> Any:
    """NumPy or CuPy array over the memory of an array; ChainerX's on a GPU if CuPy is absent."""
    if isinstance(array, chainerx.ndarray) and array.device.backend.name == 'cuda':
        return backend.from_chx(array) if cuda.available else array.as_grad_stopped()
    return backend.from_chx(array)


def stopped(array: Any) -> Any:
    """The array, or a view of it without the graph of ChainerX."""
    return array.as_grad_stopped() if isinstance(array, chainerx.ndarray) else array


def flat(array: Any) -> Any:
    """View of a contiguous array with one axis, without the graph of ChainerX."""
    return stopped(array).reshape(-1)


def to_host(array: Any) -> numpy.ndarray[Any, Any]:
    """Contiguous NumPy array with the elements of an array, in its memory where possible."""
    array = cuda.to_cpu(array)
    if not array.flags.c_contiguous:  # ascontiguousarray would add an axis to 0-d arrays
        array = array.copy('C')
    return array


def empty(spec: Spec) -> numpy.ndarray[Any, Any]:
    """Host memory for an array."""
    return numpy.empty(spec.shape, spec.dtype)


def from_host(array: numpy.ndarray[Any, Any], kind: str) -> Any:
    """Array on a kind of device: the current GPU, or the current device of ChainerX's backend."""
    if kind == '@numpy':
        return array
    if kind == '@cupy':
        return cuda.cupy.asarray(array)
    device = chainerx.get_default_device()
    if device.backend.name != kind:
        on_cupy = kind == 'cuda' and cuda.available
        device = chainerx.get_device(kind, cuda.cupy.cuda.Device().id if on_cupy else 0)
    return backend.ChainerxDevice(device).send(array)


def like(array: numpy.ndarray[Any, Any], example: Any) -> Any:
    """Array on the device of another one."""
    return backend.get_device_from_array(example).send(array)


def address(array: Any) -> int:
    """Address of the first element of an array."""
    if isinstance(array, chainerx.ndarray):
        return array.data_ptr + array.offset
    return array.ctypes.data if isinstance(array, numpy.ndarray) else array.data.ptr


def to_host_bytes(arrays: list[Any]) -> numpy.ndarray[Any, Any]:
    """Bytes of arrays, one after the other."""
    hosts = [to_host(array).reshape(-1).view(numpy.uint8) for array in arrays]
    return numpy.concatenate(hosts) if hosts else numpy.empty(0, numpy.uint8)


def from_host_bytes(data: numpy.ndarray[Any, Any], arrays: Iterable[Any]) -> None:
    """Fills arrays with bytes, one after the other."""
    start = 0
    for array in arrays:
        piece = data[start : start + array.nbytes].view(array.dtype)
        array[...] = like(piece, array)
        start += array.nbytes
