"""File for HDF5 to write to. HDF5's library ends the process when a write fails."""

from __future__ import annotations

import io
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Self


class Target:
    """Context with a new file, whose methods, which h5py calls, never raise.

    After an error of the system, everything goes to memory, what is in the file first, so that HDF5
    finds all that it has written. Until then, no memory is needed. The handlers of signals, which
    may raise anywhere, wait.

    Args:
        path (str): New file.

    Attributes:
        error (OSError): What went wrong first, or ``None``.

    """

    error: OSError | None = None
    _file: Any
    _open_file: Any

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._end = 0  # of what is in the file; a device has no size
        self._handlers = _WaitingHandlers()

    # The methods that h5py calls.

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._open_file.seek(offset, whence)

    def tell(self) -> int:
        return self._open_file.tell()

    def read(self, size: int = -1) -> bytes:
        return self._open_file.read(size)

    def readinto(self, buffer: Any) -> int:
        return self._open_file.readinto(buffer)

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast('B')
        while rest.nbytes > 0:
            try:
                rest = rest[self._open_file.write(rest) :]
            except OSError as error:
                self._go_to_memory(error)
            self._end = max(self._end, self._open_file.tell())
        return memoryview(data).nbytes

    def truncate(self, size: int) -> int:
        try:
            self._open_file.truncate(size)
        except OSError as error:
            self._go_to_memory(error)
        return size

    def flush(self) -> None:
        pass

    def _go_to_memory(self, error: OSError) -> None:
        self.error = error
        position = self._file.tell()
        self._file.seek(0)
        self._open_file = io.BytesIO(self._file.read(self._end))
        self._open_file.seek(position)

    # The methods for the one who makes the file.

    def __enter__(self) -> Self:
        self._handlers.begin()
        try:
            self._file = open(self._path, 'w+b', buffering=0)
        except BaseException:
            self._handlers.end()
            raise
        self._open_file = self._file
        return self

    def check(self) -> None:
        """Raises what went wrong, and lets handlers of signals run."""
        self._handlers.run()
        if self.error is not None:
            raise self.error

    def __exit__(self, exc_type: object, *_: object) -> None:
        with self._file:
            self._handlers.end()
            if exc_type is None:
                self.check()
                os.fsync(self._file.fileno())


class _WaitingHandlers:
    """Handlers of signals in Python, put off until a call of :meth:`run` or :meth:`end`."""

    def __init__(self) -> None:
        self._replaced: dict[int, Any] = {}
        self._received: list[tuple[int, Any]] = []

    def begin(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # handlers run in the main thread only
        try:
            for signum in signal.valid_signals():
                handler = signal.getsignal(signum)
                if callable(handler):
                    self._replaced[signum] = handler
                    signal.signal(signum, self._receive)
        except BaseException:  # of a handler
            self._restore()
            raise

    def _receive(self, signum: int, frame: Any) -> None:
        self._received.append((signum, self._replaced[signum]))

    def run(self) -> None:
        """Runs the handlers of the signals that have come."""
        while self._received:
            signum, handler = self._received.pop(0)
            handler(signum, None)

    def end(self) -> None:
        """Restores the handlers, and runs those of the signals that have come."""
        self._restore()
        self.run()

    def _restore(self) -> None:
        try:
            for signum in list(self._replaced):
                signal.signal(signum, self._replaced[signum])
                del self._replaced[signum]
        finally:
            if self._replaced:  # a handler has raised
                self._restore()
