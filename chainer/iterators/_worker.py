"""A worker process as the main process sees it: chunks go there, and examples come back."""

from __future__ import annotations

import collections
import contextlib
import pickle
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.iterators import _worker_memory

if TYPE_CHECKING:
    import mmap

_MAX_PENDING = 2


class WorkerDied(RuntimeError):
    """Raised when a worker process ends unexpectedly."""


class _RemoteTraceback(Exception):
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class Job:
    """A batch being fetched."""

    def __init__(self, n_chunks: int) -> None:
        self.results: list[list[Any]] = [[]] * n_chunks
        self.n_left = n_chunks
        self.error: BaseException | None = None
        self.cancelled = False

    def complete(self, number: int, examples: list[Any], error: BaseException | None) -> None:
        """Notes the result of a chunk."""
        if error is not None:
            self.error = error
        self.results[number] = examples
        self.n_left -= 1


class Chunk(NamedTuple):
    """Part of a batch, which one worker reads."""

    job: Job
    number: int
    request: tuple[bytes, int]  # indices and a seed


class Worker:
    """A process, the end of its pipe and what it is to send.

    Args:
        process: Process.
        conn: End of its pipe.
        max_chunks: Number of chunks before it retires; ``None``: it does not.

    """

    def __init__(self, process: Any, conn: Any, max_chunks: int | None) -> None:
        self.process = process
        self.conn = conn
        self.pending: collections.deque[Chunk] = collections.deque()
        self._n_left = float('inf') if max_chunks is None else max_chunks
        self._memory: mmap.mmap | None = None

    @property
    def is_free(self) -> bool:
        """Whether it takes another chunk."""
        return len(self.pending) < _MAX_PENDING and self._n_left > 0

    @property
    def is_retired(self) -> bool:
        """Whether it has read all that it may read."""
        return self._n_left <= 0 and not self.pending

    def send(self, chunk: Chunk) -> None:
        """Asks for the examples of a chunk.

        Raises:
            OSError: If the process has ended.

        """
        self.conn.send(chunk.request)
        self.pending.append(chunk)
        self._n_left -= 1

    def receive(self) -> tuple[Any, BaseException | None]:
        """Returns examples, or the error of the dataset.

        Raises:
            EOFError: If the process has ended.
            OSError: The same, or the pipe was closed.

        """
        reply = self.conn.recv()
        if reply[0] == 'shared' and reply[2]:
            self._memory = _worker_memory.receive_memory(self.conn)
        try:
            return self._read(*reply)
        except Exception as e:  # the examples cannot be unpickled here
            # As text: the frames of a traceback would keep the files of the workers open.
            text = traceback.format_exc()
            e.__traceback__ = e.__context__ = None
            e.__cause__ = _RemoteTraceback(text)
            return None, e

    def _read(self, kind, data, *rest):
        if kind == 'error':
            return None, _read_error(data, *rest)
        buffers: list[bytearray] | list[memoryview]
        if kind == 'inline':
            buffers = [bytearray(b) for b in rest[0]]
        else:
            assert self._memory is not None, 'the first reply of this kind brings the memory'
            buffers = _worker_memory.copy_slot(self._memory, *rest[1:])
        return pickle.loads(data, buffers=buffers), None

    def retire(self) -> None:
        """Has the process end, now that it has sent everything."""
        with contextlib.suppress(OSError):
            self.conn.send(None)
        self.wait()

    def wait(self) -> None:
        """Waits for the end of the process, and kills it if it takes more than a second."""
        self.process.join(1)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(1)

    def death(self) -> WorkerDied:
        """Error that says how the process ended."""
        self.process.join(1)
        return WorkerDied(
            f'a worker process (pid {self.process.pid}) that reads the dataset died '
            f'unexpectedly, exit code {self.process.exitcode}'
        )


def _read_error(pickled, text):
    try:
        error = pickle.loads(pickled)
    except Exception:
        error = RuntimeError('reading the dataset failed in a worker process')
    error.__cause__ = _RemoteTraceback(text)
    return error
