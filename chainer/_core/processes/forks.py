"""What a forked process must not share with its parent."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Protocol

import numpy


class AfterFork(Protocol):
    def _after_fork(self) -> None: ...


_objects: weakref.WeakValueDictionary[int, AfterFork] = weakref.WeakValueDictionary()


def register(obj: AfterFork) -> None:
    """Lets a fork call ``obj._after_fork()`` in the child, as long as ``obj`` exists.

    Other threads may have been anywhere in the code of ``obj``, and their locks are locked.
    """
    _objects[id(obj)] = obj


def _after_fork() -> None:
    # NumPy releases Python's lock while it draws, but holds that of its global generator.
    generators: Any = numpy.random  # not all of whose stubs have this function
    generators.get_bit_generator().lock._at_fork_reinit()
    for obj in list(_objects.values()):
        obj._after_fork()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


class ProcessLock:
    """Lock between the threads of a process, for ``with``. A forked process finds it free.

    A plain lock that another thread holds during a fork is never released in the child.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        register(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
