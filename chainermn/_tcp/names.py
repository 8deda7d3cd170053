"""What takes the place of the module ``mpi4py.MPI``: the names that this package uses."""

from __future__ import annotations

import atexit
import ctypes
import os
import socket
from typing import Any

import numpy

from chainermn._tcp import comm, rendezvous
from chainermn._tcp.comm import Comm, Group, Status
from chainermn._tcp.engine import Engine, Request

__all__ = ['Comm', 'Group', 'Request', 'Status']

ANY_SOURCE = ANY_TAG = comm.ANY
IDENT, CONGRUENT = comm.IDENTICAL, comm.CONGRUENT
IN_PLACE = COMM_NULL = None
BYTE = FLOAT = None  # buffers know their bytes
LOR = numpy.logical_or
THREAD_MULTIPLE = 3


class buffer:  # noqa: N801
    """Memory as a buffer."""

    @staticmethod
    def fromaddress(address: int, nbytes: int) -> memoryview:
        return memoryview((ctypes.c_ubyte * nbytes).from_address(address)).cast('B')


def Get_processor_name() -> str:
    return socket.gethostname()


def Query_thread() -> int:
    return THREAD_MULTIPLE


def Is_initialized() -> bool:
    return 'COMM_WORLD' in globals()


def Is_finalized() -> bool:
    return False


def __getattr__(name: str) -> Any:
    """Connects the ranks when the program first asks for the communicator of all."""
    if name != 'COMM_WORLD':
        raise AttributeError(f'the transport TCP has no {name}')
    atexit.register(_leave, os.getpid())
    return renew(rendezvous.start_seconds())


def renew(seconds: float | None) -> Comm:
    """Connects the ranks that are there; all of them call this.

    Args:
        seconds: Seconds that they have to come, ``None`` for any number.

    Returns:
        Comm: The communicator of all, which is ``COMM_WORLD`` from now on.

    """
    world = globals().pop('COMM_WORLD', None)
    if world is not None:
        world.engine.close()
    engine = Engine(*rendezvous.connect(seconds))
    world = globals()['COMM_WORLD'] = Comm(engine, engine.ranks, 'world')
    return world


def _leave(pid: int) -> None:
    # A forked process that ends must not say farewell on the connections of its parent.
    if os.getpid() == pid and 'COMM_WORLD' in globals():
        globals()['COMM_WORLD'].engine.leave()
