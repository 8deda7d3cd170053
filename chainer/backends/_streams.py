"""Streams of CuPy and of ChainerX on one GPU: which is current, and which waits for which.

Each library has current streams of its own, by default CUDA's default stream. Where they differ,
a library that takes an array from the other makes its stream wait, and memory is not used again
before both are done with it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import chainerx
from chainer.backends import _cupy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

#: Numbers of CUDA's default stream, which ChainerX calls 0, and of that of each thread.
_DEFAULT = 0, 1
_OF_THREAD = 2
_NOTHING: AbstractContextManager[Any] = contextlib.nullcontext()


def _get_cupy_stream(device: chainerx.Device) -> Any:
    return _cupy.public.cupy.cuda.get_current_stream(device.index)


def _is_current(stream: Any, device: chainerx.Device) -> bool:
    """Whether a stream of CuPy is ChainerX's current one."""
    ptr = device.current_stream.ptr
    return stream.ptr == ptr or (ptr == 0 and stream.ptr in _DEFAULT)


class _Exchange:
    """A stream of ChainerX by CUDA's protocol for streams of other libraries."""

    __slots__ = ('_stream',)

    def __init__(self, stream: chainerx.Stream) -> None:
        self._stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._stream.ptr


def _wrap(stream: Any, device: chainerx.Device) -> chainerx.Stream:
    return chainerx.Stream(device, stream.ptr, stream)


def of_chainerx(stream: Any, device: chainerx.Device) -> chainerx.Stream:
    """ChainerX's stream for one of either library, and a new one for ``None``."""
    if stream is None:
        return chainerx.Stream(device)
    return stream if isinstance(stream, chainerx.Stream) else _wrap(stream, device)


@contextlib.contextmanager
def _one_after_another(stream: Any, device: chainerx.Device) -> Iterator[None]:
    stream.synchronize()
    yield
    device.current_stream.synchronize()


def follow_cupy(device: chainerx.Device) -> AbstractContextManager[Any]:
    """Makes ChainerX work in the current stream of CuPy, or else at the right time."""
    stream = _get_cupy_stream(device)
    if _is_current(stream, device):
        return _NOTHING
    if stream.ptr == _OF_THREAD:
        return _one_after_another(stream, device)
    return _wrap(stream, device)


def follow_chainerx(device: chainerx.Device) -> AbstractContextManager[Any]:
    """Makes CuPy work in the current stream of ChainerX; the device is CuPy's current one, too."""
    if device.backend.name != 'cuda' or _is_current(_get_cupy_stream(device), device):
        return _NOTHING
    streams = _cupy.public.cupy.cuda
    wanted = device.current_stream
    stream: AbstractContextManager[Any]
    if not wanted.ptr:
        stream = streams.Stream(null=True)
    elif hasattr(streams.Stream, 'from_external'):
        stream = streams.Stream.from_external(_Exchange(wanted))
    else:  # CuPy 13
        stream = streams.ExternalStream(wanted.ptr, device.index)
    return stream


class _Loan:
    """Keeps an array of CuPy that ChainerX uses. At its end, CuPy's stream waits for ChainerX's."""

    __slots__ = ('_array', '_device', '_stream')

    def __init__(self, array: Any, stream: chainerx.Stream, device: chainerx.Device) -> None:
        self._array, self._stream, self._device = array, stream, device

    def __del__(self) -> None:
        self._stream.wait(self._device.current_stream)


def lend_to_chainerx(array: Any, device: chainerx.Device) -> Any:
    """Lets ChainerX wait for the work of CuPy; returns what keeps the array meanwhile."""
    stream = _get_cupy_stream(device)
    if _is_current(stream, device):
        return array
    if stream.ptr == _OF_THREAD:
        stream.synchronize()
        return array
    wrapped = _wrap(stream, device)
    device.current_stream.wait(wrapped)
    return _Loan(array, wrapped, device)


def lend_to_cupy(array: chainerx.ndarray) -> Any:
    """Lets CuPy wait for the work of ChainerX; returns what keeps the array meanwhile."""
    device = array.device
    stream = _get_cupy_stream(device)
    if _is_current(stream, device):
        return array
    if stream.ptr == _OF_THREAD:
        device.current_stream.synchronize()
        return array
    wrapped = _wrap(stream, device)
    wrapped.wait(device.current_stream)
    return array, wrapped  # ends in this order: the memory then waits for the stream
