"""MPI by mpi4py, which is imported when the first communicator is made, or TCP in its place."""

from __future__ import annotations

import os
from typing import Any

from chainermn._tcp import names, rendezvous

# As the launcher chose: it is asked at each message.
_IS_TCP = rendezvous.VARIABLE in os.environ


def is_tcp() -> bool:
    """Tells whether TCP takes the place of MPI."""
    return _IS_TCP


def mpi() -> Any:
    """Returns the module :mod:`mpi4py.MPI`, which starts MPI when it is imported first.

    With ``python -m chainermn.run --transport tcp``, it is :mod:`chainermn._tcp.names`.

    Raises:
        ImportError: If mpi4py or an MPI library is missing.

    """
    if _IS_TCP:
        return names
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # a RuntimeError if there is no MPI library
        raise ImportError(
            "chainermn needs mpi4py and an MPI library: pip install 'chainer[mpi]' mpich "
            f'({type(error).__name__}: {error})'
        ) from error
    return MPI


def own_number() -> int:
    """Returns the number of this process in the job: over TCP, it connects to no other one."""
    return rendezvous.own_number() if _IS_TCP else mpi().COMM_WORLD.rank


def abort(status: int) -> None:
    """Ends all processes of the job: over TCP this one, on which the launcher decides."""
    if _IS_TCP:
        os._exit(status)
    if mpi().Is_initialized() and not mpi().Is_finalized():
        mpi().COMM_WORLD.Abort(status)
