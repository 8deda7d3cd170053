"""Memory in use over time, and the lines of the program that hold it at its peak."""

from __future__ import annotations

import os
import sys
import sysconfig
import tracemalloc
from typing import TYPE_CHECKING, Any, NamedTuple

import chainerx
from chainer import configuration
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_PATHS = sysconfig.get_paths()
#: Code that runs for a program, and is not a part of it.
_LIBRARIES = (
    *[os.path.join(_ROOT, name, '') for name in ('chainer', 'chainerx', 'chainermn')],
    *[os.path.join(_PATHS[key], '') for key in ('stdlib', 'platstdlib', 'purelib', 'platlib')],
    '<frozen ',
)
_FRAMES = 24  # of calls: lines of a program lie above those of the libraries
_MIB = 2**20


class Sample(NamedTuple):
    """Bytes in use at a time, by kind of memory."""

    time: int
    sizes: dict[str, int]


class Peak(NamedTuple):
    """Most memory of one kind at the end of a span."""

    #: Bytes.
    size: int
    #: Line of the program that ran then, as ``'file.py:12'``.
    line: str


class Memory:
    """Samples memory at the ends of spans."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.peaks: dict[str, Peak] = {}
        #: Bytes of Python and NumPy by line, at the peak or a tenth or a MiB below it at most.
        self.lines: dict[str, int] = {}
        self._threshold = 0  # beyond which lines are worth their cost
        self._has_started = False
        # Compiled kernels take memory for NumPy arrays that Python does not count.
        self._config = configuration.using_config('use_native_kernels', 'never')

    def start(self) -> None:
        """Begins to count."""
        if not tracemalloc.is_tracing():
            tracemalloc.start(_FRAMES)
            self._has_started = True
        self._meters = _meters()
        self._config.__enter__()

    def stop(self) -> None:
        """Ends it, unless the program counts by itself."""
        self._config.__exit__(None, None, None)
        if self._has_started:
            tracemalloc.stop()

    def sample(self, now: int) -> bool:
        """Takes a sample; returns whether :meth:`take_lines` should be called."""
        sizes = {name: measure() for name, measure in self._meters.items()}
        self.samples.append(Sample(now, sizes))
        line = ''
        for name, size in sizes.items():
            if name not in self.peaks or size > self.peaks[name].size:
                line = line or _current_line()
                self.peaks[name] = Peak(size, line)
        return sizes['Python and NumPy'] > self._threshold

    def take_lines(self) -> None:
        """Notes which lines hold memory. It takes tenths of seconds."""
        lines: dict[str, int] = {}
        for statistic in tracemalloc.take_snapshot().statistics('traceback'):
            line = _line_of(statistic.traceback)
            lines[line] = lines.get(line, 0) + statistic.size
        self.lines = dict(sorted(lines.items(), key=lambda item: -item[1]))
        size = tracemalloc.get_traced_memory()[0]
        self._threshold = size + max(size // 10, _MIB)


def _meters() -> dict[str, Callable[[], int]]:
    meters: dict[str, Callable[[], int]] = {
        'Python and NumPy': lambda: tracemalloc.get_traced_memory()[0]
    }
    if os.path.exists('/proc/self/statm'):  # it includes native arrays of ChainerX
        meters['process'] = _resident_size
    if cuda.available:
        meters['CuPy'] = cuda.cupy.get_default_memory_pool().used_bytes
    device = chainerx.get_default_device() if chainerx.is_available() else None
    if device is not None and device.backend.name == 'cuda':
        meters[device.name] = lambda: device.memory_statistics()['used']
    return meters


def _resident_size() -> int:
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def _is_of_program(file: str) -> bool:
    return not file.startswith(_LIBRARIES)


def _line_of(traceback: tracemalloc.Traceback) -> str:
    """Returns the innermost line of a traceback that is of the program."""
    for frame in reversed(traceback):
        if _is_of_program(frame.filename):
            return f'{frame.filename}:{frame.lineno}'
    return 'Chainer'


def _current_line() -> str:
    frame: Any = sys._getframe(1)
    while frame is not None and not _is_of_program(frame.f_code.co_filename):
        frame = frame.f_back
    return 'Chainer' if frame is None else f'{frame.f_code.co_filename}:{frame.f_lineno}'
