"""Programs that go on when ranks are lost."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from chainermn import _losses, _recorder, communicators
from chainermn._checkpoints import memory
from chainermn._mpi import is_tcp, mpi
from chainermn._tcp import names
from chainermn._tcp.engine import RankLostError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

_R = TypeVar('_R')


def run_elastic(
    program: Callable[[MpiCommunicatorBase], _R],
    communicator_name: str = 'non_cuda_aware',
    **kwargs: Any,
) -> _R:
    """Calls a program with a communicator, and again, with a new one, if a rank is lost or joins.

    ``python -m chainermn.run --transport tcp --on-loss shrink`` (or ``replace``) lets the other
    ranks of a job live when one is killed, stops, or fails. Within seconds they leave the program
    by a :class:`RankLostError`, connect again, and call it again, in the same processes: modules,
    data outside of the program and contexts of GPUs stay. The program makes the model, the
    optimizer and the iterators, and loads the latest checkpoint, from disk or from the memory of
    the ranks that are left, see :func:`chainermn.create_multi_node_checkpointer`, which any number
    of ranks can load in the middle of an epoch. With ``--rejoin-after``, a new process joins them,
    and all start again.

    It returns when the program has ended on all ranks: if one is lost before, all others start
    again, so that another one writes what the first one could not.

    With MPI, or without ``--on-loss``, it calls the program once, and the error ends the job.

    Args:
        program: Called with the communicator.
        communicator_name (str): Passed with ``kwargs`` to :func:`chainermn.create_communicator`.

    Returns:
        What the program returns.

    .. admonition:: Example

        >>> chainermn.run_elastic(lambda comm: comm.allreduce_obj(comm.rank), 'naive')
        0

    """
    if not is_tcp() or os.environ.get(_losses.VARIABLE, 'end') == 'end':
        return program(communicators.create_communicator(communicator_name, **kwargs))
    with memory.kept():
        while True:
            try:
                result = program(communicators.create_communicator(communicator_name, **kwargs))
                mpi().COMM_WORLD.Barrier()
                return result
            except RankLostError as error:
                print(f'chainermn: {error}; the program starts again', file=sys.stderr, flush=True)
            _reconnect()


def _reconnect() -> None:
    """Connects the ranks that are left, and forgets the calls of those of before."""
    _recorder.forget_communicators()
    # The others may still compute: this rank waits for them, and the launcher sees who is missing.
    with _recorder.Calls(mpi().COMM_WORLD).watching('run_elastic'), _recorder.recorder.busy():
        names.renew(None)
    _recorder.forget_communicators()
