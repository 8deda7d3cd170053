"""Early stopping on which the processes agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training.triggers import EarlyStoppingTrigger
from chainermn.extensions.observation_aggregator import ObservationAggregator

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class MultiNodeEarlyStoppingTrigger:
    """Trigger that ends the training of all processes when a mean over them stops improving.

    Use it as ``stop_trigger`` of the trainers. Its calls are collective.

    Args:
        comm (CommunicatorBase): Communicator.
        check_trigger: Trigger that ends the intervals that are compared.
        monitor (str): Name of the observed value.
        patience (int): Number of intervals without improvement that ends the training.
        mode (str): ``'max'``, ``'min'`` or ``'auto'``.
        verbose (bool): If true, prints the decision.
        max_trigger: Trigger that ends the training in any case.
        suffix (str): What the name of the mean has after ``monitor``.

    .. seealso:: :class:`chainer.training.triggers.EarlyStoppingTrigger`

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> trigger = chainermn.extensions.MultiNodeEarlyStoppingTrigger(
        ...     comm, check_trigger=(1, 'iteration'), patience=2)
        >>> trainer = chainer.training.Trainer(updater, trigger)
        >>> optimizer.lr = 0  # so that nothing improves
        >>> trainer.run()
        >>> updater.iteration
        3

    """

    def __init__(
        self,
        comm: MpiCommunicatorBase,
        *,
        check_trigger: TriggerSpec = (1, 'epoch'),
        monitor: str = 'main/loss',
        patience: int | None = None,
        mode: str = 'auto',
        verbose: bool = False,
        max_trigger: TriggerSpec = (100, 'epoch'),
        suffix: str = '_aggregated',
        **kwargs: Any,
    ) -> None:
        self.actual_trigger: EarlyStoppingTrigger = EarlyStoppingTrigger(
            check_trigger, monitor + suffix, patience, mode, verbose, max_trigger, **kwargs
        )
        self.aggregator: ObservationAggregator = ObservationAggregator(
            comm, monitor, monitor + suffix, comm_trigger=check_trigger
        )

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the training ends; collective.

        Args:
            trainer (Trainer): Trainer with the value in its observation.

        """
        self.aggregator(trainer)
        return self.actual_trigger(trainer)

    def get_training_length(self) -> tuple[float, str]:
        """Returns the maximum length of the training."""
        return self.actual_trigger.get_training_length()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the best value, the used patience and the triggers."""
        self.actual_trigger.serialize(serializer)
