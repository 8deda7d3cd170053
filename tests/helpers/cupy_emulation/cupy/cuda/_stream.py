"""Streams and events. Work is done when it is given, so nothing ever waits."""

import itertools
import threading
import time
import warnings

from cupy._api import MAJOR
from cupy.cuda import _device

_pointers = itertools.count(0x1000, 16)


class _Current(threading.local):
    def __init__(self):
        self.by_device = {}


_current = _Current()


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self._device = _device.current()
        self.ptr = next(_pointers)
        self.disable_timing = disable_timing
        self._time = None

    def record(self, stream=None):
        stream = get_current_stream() if stream is None else stream
        if self._device != (_device.current() if stream.device_id == -1 else stream.device_id):
            raise _device.CUDARuntimeError(400)
        self._time = time.perf_counter()

    def synchronize(self):
        _device.initialize()

    @property
    def done(self):
        return True


def get_elapsed_time(start_event, end_event):
    if start_event._time is None or end_event._time is None:
        raise _device.CUDARuntimeError(400)
    return (end_event._time - start_event._time) * 1000


class _Work:
    """What streams of CuPy and of others can do."""

    def __enter__(self):
        device = _device.current()
        self._previous.append((device, get_current_stream()))
        self.use()
        return self

    def __exit__(self, *args):
        device, stream = self._previous.pop()
        _current.by_device[device] = stream

    def use(self):
        device = _device.current()
        if self.device_id not in (-1, device):
            raise RuntimeError(
                f'This stream was created on device {self.device_id} but the current device is '
                f'{device}'
            )
        _current.by_device[device] = self
        return self

    def synchronize(self):
        _device.initialize()

    @property
    def done(self):
        return True

    def record(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event):
        if not isinstance(event, Event):
            raise TypeError(f'an Event is expected, not {type(event)}')

    def add_callback(self, callback, arg):
        callback(self, 0, arg)

    def launch_host_func(self, callback, arg):
        callback(arg)

    def __eq__(self, other):
        return isinstance(other, _Work) and (self.ptr, self.device_id) == (
            other.ptr,
            other.device_id,
        )

    def __hash__(self):
        return hash((self.ptr, self.device_id))

    def __repr__(self):
        return f'<{type(self).__name__} {self.ptr} (device {self.device_id})>'


class Stream(_Work):
    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self.null = null
        self.non_blocking, self.ptds, self.priority = non_blocking, ptds, priority or 0
        self.ptr = 0 if null else 2 if ptds else next(_pointers)
        self.device_id = -1 if null or ptds else _device.current()
        self._previous = []


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


if MAJOR >= 14:

    def _from_external(cls, obj):
        stream = cls.__new__(cls)
        _version, stream.ptr = obj.__cuda_stream__()
        stream.device_id, stream._previous, stream._external = -1, [], obj
        return stream

    _from_external.__name__ = 'from_external'
    Stream.from_external = classmethod(_from_external)


class ExternalStream(_Work):
    def __init__(self, ptr, device_id=-1):
        if MAJOR >= 14:
            text = 'ExternalStream is deprecated. Use Stream.from_external() instead'
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        self.ptr, self.device_id = ptr, device_id
        self._previous = []


def get_current_stream(device_id=-1):
    device = _device.current() if device_id == -1 else device_id
    return _current.by_device.get(device, Stream.null)
