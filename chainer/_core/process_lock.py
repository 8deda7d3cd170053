"""Locks that a fork does not copy locked."""

from __future__ import annotations

import os
import threading
import weakref


class ProcessLock:
    """Lock between the threads of a process, for ``with``. A forked process finds it free.

    A plain lock that another thread holds during a fork is never released in the child. What
    the lock guards must allow that the other thread stopped halfway.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def _renew() -> None:
    for lock in _locks:
        lock._lock = threading.Lock()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_renew)
