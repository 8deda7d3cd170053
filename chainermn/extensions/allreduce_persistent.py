"""Means of persistent values, such as running statistics, over the processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import get_array_types
from chainer._core.settings.half import FLOAT_KINDS
from chainer.training import extension
from chainermn import _arrays

if TYPE_CHECKING:
    from chainer.link import Link
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class AllreducePersistent(extension.Extension):
    """Extension that replaces the persistent values of a model by their means over the processes.

    Each process has its own running statistics of
    :class:`~chainer.links.BatchNormalization`; this extension averages them before an evaluator
    uses them. It averages floating point arrays only. Its calls are collective.

    Args:
        model (chainer.Link): Model.
        comm (CommunicatorBase): Communicator.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> model = L.BatchNormalization(2)
        >>> extension = chainermn.extensions.AllreducePersistent(model, comm)
        >>> extension()
        >>> model.avg_var
        array([1., 1.], dtype=float32)

    """

    trigger: TriggerSpec = 1, 'epoch'
    priority = extension.PRIORITY_WRITER + 1  # before evaluators

    def __init__(self, model: Link, comm: MpiCommunicatorBase) -> None:
        self.model = model
        self.comm = comm

    def __call__(self, trainer: Trainer | None = None) -> None:
        """Averages the values; collective."""
        for _, link in sorted(self.model.namedlinks()):
            for name in sorted(link._persistent):
                value = getattr(link, name)
                if isinstance(value, get_array_types()) and value.dtype.kind in FLOAT_KINDS:
                    array = _arrays.plain(value)
                    array[...] = self.comm.allreduce(array) / self.comm.size
