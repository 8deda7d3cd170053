"""The profile of what a ``with`` statement does."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

from chainer._core.reports import html_table
from chainer.profiler import _spans, _table, _trace_file
from chainer.profiler._hook import SpanHook
from chainer.profiler._memory import Memory, Peak
from chainer.profiler._replacements import Replacements
from chainer.profiler._workers import Workers

if TYPE_CHECKING:
    from typing_extensions import Self

_lock = threading.Lock()  # locked while a profile runs


class Profile:
    """Times, calls and memory of a part of a program; :func:`profile` makes one.

    It is for one ``with`` statement. ``print`` shows the times of the thread that ran it.

    Attributes:
        wall (float): Seconds that the ``with`` statement took.
        peaks (dict): With ``memory=True``, for each kind of memory its peak: ``size`` in bytes, and
            the ``line`` of the program that ran then.
        lines (dict): With ``memory=True``, bytes of Python and NumPy by the line of the program
            that asked for them, when they were most, or a tenth or a MiB less at most.

    .. admonition:: Example

        >>> with chainer.profiler.profile() as profile:
        ...     y = F.relu(np.ones(3, np.float32))
        >>> [(row.name, row.calls) for row in profile.rows if row.category == 'forward']
        [('ReLU', 1)]
        >>> print(profile)
        Profile of ... ms ... Calls ...
        ReLU ...

    """

    def __init__(self, path: str | None, memory: bool, communicator: Any) -> None:
        self._path = path
        self._communicator = communicator
        self._memory = Memory() if memory else None
        self._recorder = _spans.Recorder()
        self._hook = SpanHook(self._recorder)
        self._replacements = Replacements(self._recorder, self._hook)
        self._workers: dict[int, list[_spans.Span]] = {}
        self._state = 'new'
        self._track: _spans.Track | None = None
        self.wall: float = 0.0
        self.peaks: dict[str, Peak] = {}
        self.lines: dict[str, int] = {}

    def __enter__(self) -> Self:
        if self._state != 'new':
            raise RuntimeError('a profile is for one with statement: make another one')
        if not _lock.acquire(blocking=False):
            raise RuntimeError('a profile runs already, in this thread or another one')
        self._state = 'running'
        with contextlib.ExitStack() as stack:
            stack.callback(_lock.release)
            self._watch(stack)
            if self._communicator is not None:
                self._communicator.allreduce_obj(0)  # so that the clocks of ranks begin together
            self._contexts = stack.pop_all()
        self._track = self._recorder.start()
        self._start = _spans.clock()
        self._recorder.begin(self, 'profile', 'outside of spans')
        return self

    def _watch(self, stack: contextlib.ExitStack) -> None:
        """Starts all that watches, and puts what ends it on a stack."""
        workers = Workers()
        stack.callback(lambda: self._workers.update(workers.stop()))
        stack.callback(self._replacements.stop)
        self._replacements.start()
        workers.start(self._replacements)
        if self._memory is not None:
            self._memory.start()
            stack.callback(self._memory.stop)
            self._recorder.on_end = self._sample
        stack.callback(self._hook.stop)
        self._hook.start()

    def __exit__(self, exc_type: Any, *_: object) -> None:
        assert self._track is not None
        self._recorder.on_end = None
        self._recorder.end(self)
        self._recorder.stop()
        self._contexts.close()
        self._state = 'ended'
        root = self._track.spans[0]
        self.wall = (root.end - root.start) / 1e9
        if self._memory is not None:
            self.peaks, self.lines = self._memory.peaks, self._memory.lines
        # Other ranks may not come here if this one failed.
        if self._communicator is None or exc_type is None:
            self._write()

    def _sample(self, now: int) -> None:
        assert self._memory is not None
        if self._memory.sample(now):
            self._recorder.on_end = None  # not at the end of this span
            with self._recorder.span('profile', 'lines of memory'):
                self._memory.take_lines()
            self._recorder.on_end = self._sample

    @property
    def rows(self) -> list[_table.Row]:
        """List of the sums of spans by ``category`` and ``name``.

        Each has ``calls``, ``total`` (seconds from beginning to end) and ``own`` (without those of
        spans in it), which add up to ``wall``. Those with the most time of their own come first.
        """
        return [] if self._track is None else _table.sum_up(self._track.spans)

    def rows_of(self, thread: str) -> list[_table.Row]:
        """Returns the rows of another thread.

        Args:
            thread (str): Name of the thread. Threads of one name count as one.

        """
        tracks = [track.spans for track in self._recorder.tracks if track.name == thread]
        return _table.sum_up([span for spans in tracks for span in spans])

    def _cells(self) -> list[tuple[str, ...]]:
        return _table.cells_of(f'Profile of {self.wall * 1e3:.1f} ms', self.rows)

    def _repr_html_(self) -> str | None:
        if self._state != 'ended':
            return None
        head, *rows = self._cells()
        return html_table.table(head, rows)

    def __str__(self) -> str:
        if self._state != 'ended':
            return f'<profile, {self._state}>'
        parts = [_table.render(self._cells())]
        parts += [f'Peak of {k}: {p.size:,} bytes at {p.line}' for k, p in self.peaks.items()]
        parts += [f'{size:>16,} bytes by {line}' for line, size in list(self.lines.items())[:10]]
        return '\n'.join(parts)

    # -- the file

    def _processes(self) -> list[_trace_file.Process]:
        threads = [(track.number, track.name, track.spans) for track in self._recorder.tracks]
        samples = [] if self._memory is None else self._memory.samples
        make = _trace_file.Process
        return [
            make(os.getpid(), 'program', self._start, threads, samples),
            *[
                make(pid, f'worker {pid}', self._start, [(0, 'main', spans)], [])
                for pid, spans in self._workers.items()
            ],
        ]

    def _write(self) -> None:
        processes = self._processes()
        if self._communicator is not None:
            ranks = self._communicator.gather_obj(processes)
            if ranks is None:
                return
            processes = _of_ranks(ranks)
        if self._path is not None:
            _trace_file.write(self._path, processes)


def _of_ranks(ranks: list[list[_trace_file.Process]]) -> list[_trace_file.Process]:
    """Gives processes of several hosts unique numbers: those of the ranks, and further ones."""
    number = len(ranks)
    processes = []
    for rank, (program, *workers) in enumerate(ranks):
        processes.append(program._replace(number=rank, name=f'rank {rank}'))
        for worker in workers:
            processes.append(worker._replace(number=number, name=f'rank {rank} {worker.name}'))
            number += 1
    return processes


def profile(
    path: str | os.PathLike[str] | None = None, *, memory: bool = False, communicator: Any = None
) -> Profile:
    """Measures what a ``with`` statement does, and writes a trace of it.

    The trace is a file of JSON that https://ui.perfetto.dev and ``chrome://tracing`` show. Its
    spans are the forward and backward computations of functions with the shapes and dtypes of
    arrays (of inputs, and of gradients of outputs), backward passes, updates of optimizers, calls
    of compiled functions and whether they run plans, waits for iterators, converters, updaters,
    extensions, the examples that threads and worker processes read, and calls of communicators of
    ChainerMN. What runs between them is the time of the span around them.

    The profile watches the thread that enters it, and threads and worker processes that begin while
    it runs. Functions and methods are replaced as long as it runs; at other times it costs nothing.
    While it runs, a function costs some microseconds more, and gradients of NumPy arrays are
    computed by functions, as with all function hooks. Times are those of the host: GPUs compute
    while the program goes on, until something waits for them.

    Args:
        path (str): File of the trace. By default, none is written.
        memory (bool): Whether to measure the memory in use at the end of each span: that of Python
            and NumPy by :mod:`tracemalloc`, which makes Python a few times slower; on Linux that of
            the process, with native arrays of ChainerX; and that of GPUs. Functions of NumPy arrays
            then run without compiled kernels, whose memory Python does not count.
        communicator: Communicator of ChainerMN. All of its ranks have to enter and leave the
            ``with`` statement together; rank 0 writes one file for all of them. Times of hosts are
            as close as a collective call brings them.

    Returns:
        Profile: Context manager, whose ``rows`` and text are the sums of the spans.

    Raises:
        RuntimeError: At the ``with`` statement, if a profile runs already or the profile has run.
        OSError: At the end, if the file cannot be written.

    .. admonition:: Example

        >>> model = L.Linear(3, 2)
        >>> x = np.ones((4, 3), np.float32)
        >>> with chainer.profiler.profile() as profile:
        ...     loss = F.sum(model(x))
        ...     loss.backward()
        >>> [row.calls for row in profile.rows if row.name == 'LinearFunction']
        [1, 1]
        >>> abs(sum(row.own for row in profile.rows) / profile.wall - 1) < 0.05
        True

    """
    return Profile(None if path is None else os.fspath(path), memory, communicator)
