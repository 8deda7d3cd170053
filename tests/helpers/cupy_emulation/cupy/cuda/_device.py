"""Devices: numbers that arrays carry. All share the memory of the host."""

import os
import threading

from cupy._api import MAJOR

COUNT = int(
    os.environ.get('CUPY_EMULATION_DEVICES')
    or os.environ.get('CHAINERX_CUDA_EMULATION_DEVICES')  # both see the same GPUs
    or 4
)


_ERRORS = {
    1: 'cudaErrorInvalidValue: invalid argument',
    3: 'cudaErrorInitializationError: initialization error',
    101: 'cudaErrorInvalidDevice: invalid device ordinal',
    400: 'cudaErrorInvalidResourceHandle: invalid resource handle',
}


class CUDARuntimeError(RuntimeError):
    def __init__(self, status):
        super().__init__(_ERRORS[status])
        self.status = status


class _Thread(threading.local):
    device = 0


thread = _Thread()
_state = {'initialized': False, 'forked': False}


def _after_fork():
    # CUDA does not work in the child of a process that has used it.
    _state['forked'] = _state['initialized']


os.register_at_fork(after_in_child=_after_fork)


def initialize():
    """What the first call of the CUDA runtime does, be it a question for the device count."""
    _state['initialized'] = True
    if _state['forked']:
        raise CUDARuntimeError(3)


def current():
    """Id of the device of this thread."""
    initialize()
    return thread.device


def set_device(device):
    initialize()
    if not 0 <= device < COUNT:
        raise CUDARuntimeError(101)
    thread.device = device


class Device:
    def __init__(self, device=None):
        self.id = current() if device is None else int(device)
        self._previous = []

    def __int__(self):
        return self.id

    def __enter__(self):
        previous = current()
        self._previous.append(previous)
        if previous != self.id:
            set_device(self.id)
        return self

    def __exit__(self, *args):
        previous = self._previous.pop()
        # CuPy 14 has nothing to undo where the device was current already.
        if MAJOR < 14 or previous != self.id:
            set_device(previous)

    def use(self):
        set_device(self.id)

    def synchronize(self):
        with self:
            pass

    @property
    def mem_info(self):
        with self:
            return 2**33, 2**34

    @property
    def compute_capability(self):
        return '90'

    def __eq__(self, other):
        return self.id == other.id if isinstance(other, Device) else NotImplemented

    def __lt__(self, other):
        return self.id < other.id if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(self.id)

    def __reduce__(self):
        return Device, (self.id,)

    def __repr__(self):
        return f'<CUDA Device {self.id}>'
