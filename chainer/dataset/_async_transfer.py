"""Transfers of batches that overlap with the computation. The public names are in ``convert``."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names.set_module import set_module
from chainer._core.processes import forks
from chainer.backends import _streams, cuda
from chainer.backends._chainerx import ChainerxDevice
from chainer.dataset._concat import concat_examples_func
from chainer.dataset._converters import get_device, to_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.settings.types import NdArray


@set_module('chainer.dataset.convert')
class Conveyor:
    """Sends NumPy arrays to a GPU asynchronously, through pinned memory.

    Args:
        device (int): Destination GPU; negative or ``None`` for the CPU.
        stream (cupy.cuda.Stream): Stream of the transfers.

    .. admonition:: Example

        >>> from chainer.dataset import convert
        >>> conveyor = convert.Conveyor()  # to the CPU
        >>> conveyor.put(np.array([1, 2]))
        >>> conveyor.put(np.array([3, 4]))
        >>> conveyor.get(), conveyor.get()
        (array([1, 2]), array([3, 4]))

    """

    def __init__(self, device: int | None = None, stream: Any = None) -> None:
        self.device_id = device
        self.stream = stream
        self._pending: collections.deque[tuple[NdArray, NdArray | None]] = collections.deque()
        self._pinned: NdArray | None = None

    def put(self, array: NdArray) -> None:
        """Starts the transfer of an array.

        Raises:
            TypeError: If ``array`` is not a NumPy array.

        """
        if not isinstance(array, numpy.ndarray):
            raise TypeError(f'numpy.ndarray is expected, but a {type(array)} is given')
        if self.device_id is None or self.device_id < 0:
            self._pending.append((array, None))
            return
        cupy = cuda.cupy
        with cuda.get_device_from_id(self.device_id):
            stream = self.stream or cuda.Stream.null
            pinned_memory = cupy.cuda.alloc_pinned_memory(array.nbytes)
            pinned = numpy.frombuffer(pinned_memory, array.dtype, array.size)
            pinned = pinned.reshape(array.shape)
            pinned[...] = array
            sent = cupy.empty(array.shape, array.dtype)
            sent.set(pinned, stream)
            # The pinned block must outlive the copy, so it waits in the queue too.
            self._pending.append((sent, pinned))

    def get(self, sync: bool = True) -> NdArray:
        """Returns the oldest array of the queue.

        Args:
            sync (bool): If true, waits for the transfers of the stream.

        """
        # The pinned source of the last array is kept, as its copy may still be running.
        array, self._pinned = self._pending.popleft()
        if sync and self.stream is not None:
            self.stream.synchronize()
        return array


@set_module('chainer.dataset.convert')
class ConcatWithAsyncTransfer:
    """Converter like :func:`concat_examples` with transfers on a separate stream.

    The transfer of a batch overlaps with the computation on the previous batch, both on CuPy's
    devices and on ChainerX's ``cuda:N``. An instance supports one device. A copy, or what a pickle
    of it gives, creates streams of its own.

    Args:
        stream (cupy.cuda.Stream or chainerx.Stream): Stream of the transfers, created when omitted.
        compute_stream (cupy.cuda.Stream or chainerx.Stream): Stream that uses the batches. The
            default is CuPy's null stream, and ChainerX's current stream when a batch is converted.

    Raises:
        ValueError: If the device differs from that of earlier calls.

    .. admonition:: Example

        >>> convert = chainer.dataset.ConcatWithAsyncTransfer()
        >>> x, t = convert([(np.zeros(3), 0), (np.ones(3), 1)])  # device=0 would send them to a GPU
        >>> x.shape, t
        ((2, 3), array([0, 1]))

    """

    def __init__(self, stream: Any = None, compute_stream: Any = None) -> None:
        self._stream = stream
        self._compute_stream = compute_stream
        self._device: str | int | None = None
        self._conveyors: dict[str | int | None, Conveyor] = {}
        self._lock = forks.ProcessLock()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.update(_stream=None, _compute_stream=None, _device=None, _conveyors={})
        del state['_lock']
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = forks.ProcessLock()

    def __call__(self, batch: Sequence[Any], device: int | None = None, padding: Any = None) -> Any:
        """Converts a batch; see :func:`concat_examples` for the arguments."""
        on_cpu = concat_examples_func(batch, padding=padding)
        target = get_device(device)
        if target is None:
            return on_cpu
        if isinstance(target, cuda.GpuDevice):
            # Events and the null stream are those of the current GPU.
            with self._lock, target.create_context():
                return self._send(on_cpu, target.device.id)
        if isinstance(target, ChainerxDevice) and target.device.backend.name == 'cuda':
            with self._lock:
                return self._send_to_chainerx(on_cpu, target)
        return to_device(target, on_cpu)

    def _keep_device(self, device: str | int) -> bool:
        """Returns whether this is the first call."""
        if self._device is None:
            self._device = device
            return True
        if self._device != device:
            raise ValueError(
                f'device must be the one of the first call, {self._device}, but {device} is given'
            )
        return False

    def _send_to_chainerx(self, arrays: Any, device: ChainerxDevice) -> Any:
        # ChainerX copies from pinned memory, and uses that again when the copy is done.
        if self._keep_device(device.name):
            self._stream = _streams.of_chainerx(self._stream, device.device)
            if self._compute_stream is not None:
                self._compute_stream = _streams.of_chainerx(self._compute_stream, device.device)
        with self._stream:
            sent = to_device(device, arrays)
        (self._compute_stream or device.device.current_stream).wait(self._stream)
        return sent

    def _send(self, arrays: Any, device_id: int) -> Any:
        if self._keep_device(device_id):
            self._stream = self._stream or cuda.Stream(non_blocking=True)
            self._compute_stream = self._compute_stream or cuda.Stream.null
        # The transfers of the previous call end here; their pinned memory is free then.
        self._stream.synchronize()
        sent: Any
        if isinstance(arrays, tuple):
            sent = tuple([self._convey(device_id, i, array) for i, array in enumerate(arrays)])
        elif isinstance(arrays, dict):
            sent = {key: self._convey(device_id, key, array) for key, array in arrays.items()}
        else:
            sent = self._convey(device_id, None, arrays)
        self._compute_stream.wait_event(self._stream.record())
        return sent

    def _convey(self, device_id: int, key: str | int | None, array: NdArray) -> NdArray:
        if key not in self._conveyors:
            self._conveyors[key] = Conveyor(device_id, self._stream)
        conveyor = self._conveyors[key]
        conveyor.put(array)
        return conveyor.get(sync=False)
