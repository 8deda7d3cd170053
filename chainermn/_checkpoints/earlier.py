"""Checkpoints of Chainer 7, and of earlier versions of this one: an npz file of each rank.

Their names are ``<name>.<iteration>.<rank>`` and ``<name>.<iteration>.<rank>.of.<size>``.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.serializers import npz
from chainermn._checkpoints import restore

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class Checkpoint(NamedTuple):
    """Files that all ranks can load."""

    name: str
    iteration: int
    n_ranks: int  # that wrote
    suffix: str  # names of Chainer 7 do not have the number of ranks

    def path(self, folder: str, rank: int) -> str:
        """Returns the path of the file for a rank."""
        return os.path.join(
            folder, f'{self.name}.{self.iteration}.{rank % self.n_ranks}{self.suffix}'
        )


def find(folder: str, name: str, comm: Any) -> list[Checkpoint]:
    """Returns the checkpoints of which all ranks have files; collective."""
    pattern = re.compile(re.escape(name) + r'\.(\d+)\.(\d+)(\.of\.(\d+))?')
    entries = os.listdir(folder) if os.path.isdir(folder) else []
    own, too_large = set(), set()
    for match in filter(None, map(pattern.fullmatch, entries)):
        iteration, rank = int(match[1]), int(match[2])
        n_ranks = int(match[4] or comm.size)
        if rank >= n_ranks:  # files of Chainer 7 need the number of ranks that wrote them
            too_large.add(iteration)
        elif rank == comm.rank % n_ranks:
            own.add(Checkpoint(name, iteration, n_ranks, match[3] or ''))
    own = {c for c in own if c.suffix or c.iteration not in too_large}
    return sorted(set.intersection(*comm.allgather_obj(own)))


def load(trainer: Trainer, comm: Any, folder: str, checkpoint: Checkpoint) -> None:
    """Loads the file of this rank; with another number of ranks, the epoch starts over."""
    ignored: Any = None
    if checkpoint.n_ranks != comm.size:
        ignored = restore.PLACE.fullmatch
    npz.load_npz(checkpoint.path(folder, comm.rank), trainer, ignore_names=ignored)
