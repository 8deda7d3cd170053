"""Conversion of batches (lists of examples) to arrays."""

from __future__ import annotations

import collections.abc
import numbers
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy

from chainer import backend
from chainer._core.devices.array_types import get_array_types
from chainer._core.processes import forks
from chainer.backend import using_device
from chainer.backends import _streams, cuda
from chainer.backends._chainerx import ChainerxDevice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.devices.types import DeviceSpec
    from chainer._core.settings.types import NdArray
    from chainer.backend import Device

_Key = TypeVar('_Key')


class Converter:
    """Interface of converters.

    A converter turns a batch, which is a list of examples, into the arguments of a model
    on the given device: an array, or a tuple or dictionary of arrays.

    .. admonition:: Example

        >>> class Scale(chainer.dataset.Converter):
        ...     def __call__(self, batch, device):
        ...         x, t = chainer.dataset.concat_examples(batch, device)
        ...         return x / 255, t
        >>> x, t = Scale()([(np.full(2, 51.), 0), (np.full(2, 255.), 1)], None)
        >>> x
        array([[0.2, 0.2],
               [1. , 1. ]])

    """

    def __call__(self, batch: list[Any], device: Device) -> Any:
        """Converts a batch.

        Args:
            batch (list): List of examples.
            device (~chainer.backend.Device): Device of the arrays; ``None`` does not move
                them.

        """
        raise NotImplementedError


class _ArbitraryCallableConverter(Converter):
    """Converter from a callable, called with a normalized ``device`` argument."""

    def __init__(self, base_callable: Callable[..., Any]) -> None:
        if not callable(base_callable):
            raise TypeError(
                f'A converter must be a callable, but a {type(base_callable).__name__} is given.'
            )
        self.base_callable = base_callable
        self.__doc__ = base_callable.__doc__
        self.__wrapped__ = base_callable

    # The types are those of `concat_examples`, the only public object of this class.
    @overload
    def __call__(
        self,
        batch: Sequence[tuple[Any, ...]],
        device: DeviceSpec | None = None,
        padding: Any = None,
    ) -> tuple[NdArray, ...]: ...
    @overload
    def __call__(
        self,
        batch: Sequence[dict[_Key, Any]],
        device: DeviceSpec | None = None,
        padding: Any = None,
    ) -> dict[_Key, NdArray]: ...
    @overload
    def __call__(
        self, batch: Sequence[Any], device: DeviceSpec | None = None, padding: Any = None
    ) -> NdArray: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) >= 2:
            args = args[:1] + (_get_device(args[1]),) + args[2:]
        elif 'device' in kwargs:
            kwargs['device'] = _get_device(kwargs['device'])
        return self.base_callable(*args, **kwargs)


def converter() -> Callable[[Callable[..., Any]], Converter]:
    """Decorator that makes a converter from a function ``f(batch, device)``.

    The function gets ``device`` as a :class:`chainer.backend.Device` or ``None``, regardless of
    the form that the caller used. Undecorated functions are old-style converters, which get an
    integer (negative for CPU) and do not support ChainerX devices.

    Returns:
        callable: Decorator, which takes ``f`` and returns a
        :class:`~chainer.dataset.Converter`.

    .. admonition:: Example

        >>> @chainer.dataset.converter()
        ... def convert(batch, device):
        ...     return device.send(np.stack(batch))
        >>> convert([np.zeros(3), np.ones(3)], '@numpy').shape
        (2, 3)

    """

    def wrap(func):
        return _ArbitraryCallableConverter(func)

    return wrap


def _get_device(device_spec):
    """Normalizes a device argument that may also be ``None`` or an integer."""
    if device_spec is None or isinstance(device_spec, backend.Device):
        return device_spec
    if isinstance(device_spec, numbers.Integral):
        if device_spec < 0:
            return backend.CpuDevice()
        return cuda.GpuDevice.from_device_id(int(device_spec))
    return backend.get_device(device_spec)


def _call_converter(converter, batch, device):
    """Calls a converter of either style with a device object or ``None``."""
    if isinstance(converter, Converter):
        return converter(batch, device)
    if device is None:
        return converter(batch, None)
    if isinstance(device, cuda.GpuDevice):
        return converter(batch, device.device.id)
    if device.xp is numpy:
        return converter(batch, -1)
    raise RuntimeError(
        'A converter that is not decorated by chainer.dataset.converter() knows CPU and '
        f'GPU devices only, but the device is {device}.'
    )


def _call_with(func, in_arrays):
    """Calls a function with the result of a converter, as several arguments or as one."""
    if isinstance(in_arrays, tuple):
        return func(*in_arrays)
    if isinstance(in_arrays, dict):
        return func(**in_arrays)
    return func(in_arrays)


def to_device(device: DeviceSpec | None, x: Any) -> Any:
    """Sends an array, or a list, tuple or dictionary of arrays, to a device.

    Args:
        device: Device specifier, an integer (GPU number, negative for CPU) or ``None``,
            which returns ``x`` unchanged.
        x: Array or container of arrays.

    Returns:
        The converted ``x``.

    .. admonition:: Example

        >>> chainer.dataset.to_device('@numpy', {'x': np.zeros(2)})
        {'x': array([0., 0.])}

    """
    target: Device | None = _get_device(device)
    return x if target is None else target.send(x)


def concat_examples_func(
    batch: Sequence[Any], device: DeviceSpec | None = None, padding: Any = None
) -> Any:
    """Stacks the examples of a batch into arrays.

    - Examples that are tuples: a tuple with the stacked arrays of each position.
    - Examples that are dictionaries: a dictionary with the stacked arrays of each key.
    - Otherwise the examples are stacked into one array.

    NumPy converts numbers and lists first.

    Args:
        batch (list): Examples, all of the same form.
        device: Device of the arrays; ``None`` does not move them.
        padding: Value to pad arrays of different shapes with, up to the largest size of
            each axis. ``None`` requires equal shapes. With tuple or dictionary examples
            this may be a tuple or dictionary with the value for each position or key.

    Returns:
        Array, tuple of arrays or dictionary of arrays.

    Raises:
        TypeError: If examples are neither arrays nor numbers.
        ValueError: If the batch is empty or shapes differ without padding.

    .. admonition:: Example

        >>> batch = [(np.arange(2), 0), (np.arange(3), 1)]
        >>> x, t = chainer.dataset.concat_examples(batch, padding=-1)
        >>> x
        array([[ 0,  1, -1],
               [ 0,  1,  2]])
        >>> t
        array([0, 1])
        >>> chainer.dataset.concat_examples([{'x': 1.5}, {'x': 2.5}])
        {'x': array([1.5, 2.5])}

    """
    device = _get_device(device)
    if len(batch) == 0:
        raise ValueError('batch is empty')
    first = batch[0]

    if isinstance(first, tuple):
        if not isinstance(padding, tuple):
            padding = (padding,) * len(first)
        return tuple(
            to_device(device, _concat_arrays([example[i] for example in batch], padding[i]))
            for i in range(len(first))
        )

    if isinstance(first, dict):
        if not isinstance(padding, dict):
            padding = dict.fromkeys(first, padding)
        return {
            key: to_device(
                device, _concat_arrays([example[key] for example in batch], padding[key])
            )
            for key in first
        }

    return to_device(device, _concat_arrays(batch, padding))


concat_examples: _ArbitraryCallableConverter = _ArbitraryCallableConverter(concat_examples_func)


def _concat_arrays(arrays, padding):
    if not isinstance(arrays[0], get_array_types()):
        try:
            arrays = numpy.asarray(arrays)
        except ValueError:  # lists of different lengths
            arrays = [numpy.asarray(array) for array in arrays]
            if padding is None:
                _check_shapes(arrays)
                raise
            return _concat_arrays_with_padding(arrays, padding)
        if arrays.ndim == 1 and arrays.dtype.kind in 'OSU':
            raise TypeError(f'examples must be arrays, numbers or lists of them: {arrays[0]!r}')
    if padding is not None:
        return _concat_arrays_with_padding(arrays, padding)
    if isinstance(arrays, numpy.ndarray):
        return arrays
    device = backend.get_device_from_array(arrays[0])
    with using_device(device):
        # All backends have had concatenate, but not stack, from the start.
        try:
            return device.xp.concatenate([array[None] for array in arrays])
        except (TypeError, ValueError):
            _check_shapes(arrays)
            raise


def _check_shapes(arrays):
    shapes = [numpy.shape(array) for array in arrays]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f'examples must have equal shapes, but example 0 has {shapes[0]} and example {i} '
                f'has {shape}: give padding=, as in concat_examples(batch, device, padding=0), or '
                'use another converter'
            ) from None


def _concat_arrays_with_padding(arrays, padding):
    shape = tuple(numpy.max([array.shape for array in arrays], axis=0).astype(int).tolist())
    device = backend.get_device_from_array(arrays[0])
    with using_device(device):
        result = device.xp.full((len(arrays),) + shape, padding, dtype=arrays[0].dtype)
        for i, array in enumerate(arrays):
            result[(i,) + tuple([slice(size) for size in array.shape])] = array
    return result


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
        self._device = None
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
        device = _get_device(device)
        if device is None:
            return on_cpu
        if isinstance(device, cuda.GpuDevice):
            # Events and the null stream are those of the current GPU.
            with self._lock, device.create_context():
                return self._send(on_cpu, device.device.id)
        if isinstance(device, ChainerxDevice) and device.device.backend.name == 'cuda':
            with self._lock:
                return self._send_to_chainerx(on_cpu, device)
        return to_device(device, on_cpu)

    def _keep_device(self, device):
        """Returns whether this is the first call."""
        if self._device is None:
            self._device = device
            return True
        if self._device != device:
            raise ValueError(
                f'device must be the one of the first call, {self._device}, but {device} is given'
            )
        return False

    def _send_to_chainerx(self, arrays, device):
        # ChainerX copies from pinned memory, and uses that again when the copy is done.
        if self._keep_device(device.name):
            self._stream = _streams.of_chainerx(self._stream, device.device)
            if self._compute_stream is not None:
                self._compute_stream = _streams.of_chainerx(self._compute_stream, device.device)
        with self._stream:
            sent = to_device(device, arrays)
        (self._compute_stream or device.device.current_stream).wait(self._stream)
        return sent

    def _send(self, arrays, device_id):
        if self._keep_device(device_id):
            self._stream = self._stream or cuda.Stream(non_blocking=True)
            self._compute_stream = self._compute_stream or cuda.Stream.null
        if isinstance(arrays, tuple):
            keys, values = range(len(arrays)), arrays
        elif isinstance(arrays, dict):
            keys, values = list(arrays), arrays.values()
        else:
            keys, values = [None], [arrays]
        # The transfers of the previous call end here; their pinned memory is free then.
        self._stream.synchronize()
        sent = []
        for key, array in zip(keys, values):
            if key not in self._conveyors:
                self._conveyors[key] = Conveyor(device_id, self._stream)
            conveyor = self._conveyors[key]
            conveyor.put(array)
            sent.append(conveyor.get(sync=False))
        self._compute_stream.wait_event(self._stream.record())
        if isinstance(arrays, tuple):
            return tuple(sent)
        if isinstance(arrays, dict):
            return dict(zip(keys, sent))
        return sent[0]
