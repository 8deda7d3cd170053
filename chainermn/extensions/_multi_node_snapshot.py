"""Snapshots of models that are replicated in several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.serializers import _storage, npz
from chainer.training import extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from chainer.training.trainer import Trainer
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def multi_node_snapshot(
    comm: MpiCommunicatorBase, snapshot: Any, replica_sets: Sequence[int | Iterable[int]]
) -> Any:
    """Makes a snapshot extension write one file for processes that have the same state; collective.

    The lowest rank of each set writes; the file name ends with a dot and this rank. If the snapshot
    loads files by itself (``autoload=True``), that rank loads one and sends it to the others of the
    set. The ranks that are in no set are together one more set, so ``[]`` is the set of all, and
    ``[0]`` has rank 0 and one of the others write.

    Args:
        comm (CommunicatorBase): Communicator.
        snapshot: Extension of :func:`chainer.training.extensions.snapshot`, made by each process.
        replica_sets (list): Sets of ranks that have the same state; a number is a set of one rank.

    Returns:
        Extension.

    Raises:
        ValueError: If a rank is in two sets or does not exist.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> snapshot = chainer.training.extensions.snapshot(n_retains=2, autoload=True)
        >>> extension = chainermn.extensions.multi_node_snapshot(comm, snapshot, [])
        >>> snapshot.filename
        'snapshot_iter_{.updater.iteration}.0'

    """
    sets = [[s] if isinstance(s, int) else sorted(s) for s in replica_sets]
    ranks = [rank for s in sets for rank in s]
    if len(set(ranks)) != len(ranks):
        raise ValueError(f'replica_sets must not have a rank in two sets: {sets}')
    if not set(ranks) <= set(range(comm.size)):
        raise ValueError(f'replica_sets must have ranks from 0 to {comm.size - 1}: {sets}')
    sets.append([rank for rank in range(comm.size) if rank not in ranks])
    number = next(i for i, s in enumerate(sets) if comm.rank in s)
    snapshot.filename = _with_rank(snapshot.filename, comm.rank)
    return _MultiNodeSnapshot(comm.split(number, comm.rank), snapshot)


def _with_rank(
    filename: str | Callable[[Trainer], str], rank: int
) -> str | Callable[[Trainer], str]:
    if callable(filename):
        return lambda trainer: f'{filename(trainer)}.{rank}'
    return f'{filename}.{rank}'


class _MultiNodeSnapshot(extension.Extension):
    """Extension that writes a snapshot on the first rank of a replica set."""

    def __init__(self, comm: MpiCommunicatorBase, snapshot: Any) -> None:
        self.comm = comm
        self.snapshot = snapshot
        self.trigger = snapshot.trigger
        self.priority = snapshot.priority
        self.is_master = comm.rank == 0

    def initialize(self, trainer: Trainer) -> None:
        if self.is_master:
            self.snapshot.initialize(trainer)
        if not self.snapshot.autoload or self.comm.size == 1:
            return
        target = self.snapshot._target if self.snapshot._target is not None else trainer
        state = npz.serialize(target) if self.is_master else None
        state = self.comm.bcast_obj(state)
        if not self.is_master:
            _storage.load_all_or_nothing(npz.NpzDeserializer(state), target)

    def on_error(self, trainer: Trainer, exc: Exception, tb: Any) -> None:
        if self.is_master:
            self.snapshot.on_error(trainer, exc, tb)

    def __call__(self, trainer: Trainer) -> None:
        if self.is_master:
            self.snapshot(trainer)

    def finalize(self) -> None:
        if self.is_master:
            self.snapshot.finalize()
