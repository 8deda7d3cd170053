"""Child processes that neither outlive their parent nor leave it before it ends them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from chainer._core.processes import start_method

if TYPE_CHECKING:
    from collections.abc import Callable


_SIGNALS = signal.SIGINT, signal.SIGTERM


class Process(multiprocessing.Process):
    """Child process that calls its function by :func:`run`."""

    @staticmethod
    def _Popen(process: Any) -> Any:  # the classes of multiprocessing choose the method here, too
        context = start_method.context()
        # A signal to the group may come before the child has set its handlers, so it waits. A
        # server would keep the mask for all processes that it starts later.
        blocked = () if context.get_start_method() == 'forkserver' else _SIGNALS
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        try:
            return context.Process._Popen(process)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def run(self) -> None:
        run(super().run)


def run(target: Callable[..., Any], *args: Any) -> Any:
    """Calls the function of a child process; leaves signals to the parent.

    Terminals send Ctrl-C, and batch systems send SIGTERM, to all processes of a group. The parent
    decides what is still to be done, and ends its children.
    """
    for signum in _SIGNALS:
        # Not SIG_IGN, which programs that the function starts would inherit.
        signal.signal(signum, _do_nothing)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    return target(*args)


def follow_parent(busy: contextlib.AbstractContextManager[Any] | None = None) -> None:
    """Makes this child process end when its parent does, even if that is killed.

    Args:
        busy: Lock that this process holds while it does what it must not leave half done.

    """
    threading.Thread(target=_follow, args=(busy or contextlib.nullcontext(),), daemon=True).start()


def _follow(busy):
    parent = multiprocessing.parent_process()
    assert parent is not None, 'only a child of multiprocessing follows its parent'
    # Under the start method forkserver, the parent of the system is another process.
    is_child = os.getppid() == parent.pid
    # Later children may hold the other end of this pipe, too, so its end may come late.
    while parent.is_alive() and (not is_child or os.getppid() == parent.pid):
        connection.wait([parent.sentinel], timeout=1)
    with busy:
        os._exit(1)


def _do_nothing(signum, frame):
    pass
