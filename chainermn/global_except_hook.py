"""Ends all processes when one of them fails.

An uncaught exception ends only its own process; the others would wait for it forever. The
hook prints the traceback and then has MPI end all processes. It is added when a communicator of
several processes is made.

The environment variable ``CHAINERMN_FORCE_ABORT_ON_EXCEPTION`` changes that: ``0`` leaves the hook
out, and any other text adds it when :mod:`chainermn` is imported.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

from chainermn._mpi import abort, own_number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_VARIABLE = 'CHAINERMN_FORCE_ABORT_ON_EXCEPTION'


def is_wanted() -> bool:
    """Tells whether communicators add the hook."""
    return os.environ.get(_VARIABLE) != '0'


def _add_if_forced() -> None:
    if os.environ.get(_VARIABLE, '0') not in ('', '0'):
        add_hook()


def add_hook() -> None:
    """Has an exception that nothing catches end all processes, after its traceback is printed.

    Calling it again changes nothing.
    """
    if not isinstance(sys.excepthook, _Hook):
        sys.excepthook = _Hook(sys.excepthook)


@contextlib.contextmanager
def _visible_stderr() -> Iterator[None]:
    """Context that writes to the real stderr, not to a buffer that is lost with the process.

    The hook of ``torch.distributed`` redirects what other hooks print to such a buffer.
    """
    hides = isinstance(sys.stderr, io.StringIO) and sys.__stderr__ is not None
    with contextlib.redirect_stderr(sys.__stderr__) if hides else contextlib.nullcontext():
        yield


def _wait_for_launcher(seconds: float = 2) -> None:
    """Waits until the launcher has read what was printed: it drops the rest when all ranks end."""
    try:
        import fcntl
        import termios
    except ImportError:  # not on Unix
        return
    end = time.monotonic() + seconds
    for stream in sys.__stdout__, sys.__stderr__:
        try:
            while stream is not None and time.monotonic() < end:
                unread = fcntl.ioctl(stream.fileno(), termios.FIONREAD, bytes(4))
                if not any(unread):
                    break
                time.sleep(0.005)
        except (OSError, ValueError):  # closed, or no pipe
            continue


class _Hook:
    """Hook for exceptions that ends all processes."""

    def __init__(self, previous: Any) -> None:
        self._previous = previous

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        try:
            head = f'\nrank {own_number()} failed, so all processes end:\n'
            with _visible_stderr():
                self._print(head, kind, error, trace)
                sys.stdout.flush()
                sys.stderr.flush()
            _wait_for_launcher()
        finally:
            abort(1)

    def _print(
        self,
        head: str,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if self._previous is sys.__excepthook__:
            # One write, so that the output of several ranks does not interleave.
            sys.stderr.write(head + ''.join(traceback.format_exception(kind, error, trace)))
        else:
            sys.stderr.write(head)
            self._previous(kind, error, trace)
