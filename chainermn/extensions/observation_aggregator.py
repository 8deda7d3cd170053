"""Means of observed values over the processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import training
from chainer.backends import cuda
from chainer.training import extension
from chainer.variable import Variable, as_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class ObservationAggregator(extension.Extension):
    """Extension that combines an observed value of all processes.

    It collects the value in each iteration. When the trigger fires, it combines the values that all
    processes have collected since the last time, and all processes observe the result. This is
    collective.

    Args:
        comm (CommunicatorBase): Communicator.
        original_key (str): Name of the observed value.
        aggregated_key (str): Name of the result; ``original_key`` by default.
        comm_trigger: When the processes exchange their values.
        aggregator (callable): Function of a list with, for each rank, the list of its values:
            floats, and variables where variables are observed. By default the mean of all, which
            is a variable if one of them is.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> trainer.extend(chainermn.extensions.ObservationAggregator(
        ...     comm, 'main/loss', 'mean_loss', comm_trigger=(1, 'epoch')))
        >>> trainer.run()
        >>> round(float(trainer.observation['mean_loss']), 2)
        2.0

    """

    trigger: TriggerSpec = 1, 'iteration'
    priority = extension.PRIORITY_EDITOR

    def __init__(
        self,
        comm: MpiCommunicatorBase,
        original_key: str,
        aggregated_key: str | None = None,
        *,
        comm_trigger: TriggerSpec = (1, 'iteration'),
        aggregator: Callable[[list[list[Any]]], Any] | None = None,
    ) -> None:
        self.comm = comm
        self.original_key = original_key
        self.aggregated_key: str = original_key if aggregated_key is None else aggregated_key
        self.comm_trigger: Callable[[Trainer], bool] = training.get_trigger(comm_trigger)
        self.aggregator: Callable[[list[list[Any]]], Any] = (
            _mean if aggregator is None else aggregator
        )
        self._values: list[Any] = []

    def compute_summary(self, trainer: Trainer) -> Any:
        """Combines the values since the last time; collective.

        Returns:
            The combined value, or ``None`` if no process has any.

        """
        values, self._values = self._values, []
        gathered = self.comm.allgather_obj(values)
        return self.aggregator(gathered) if any(gathered) else None

    def __call__(self, trainer: Trainer) -> None:
        """Collects the value, and combines all when the trigger fires."""
        value = trainer.observation.get(self.original_key)
        if value is not None:
            self._values.append(_copy(value))
        if self.comm_trigger(trainer):
            summary = self.compute_summary(trainer)
            if summary is not None:
                trainer.observation[self.aggregated_key] = summary


def _copy(value: Any) -> float | Variable:
    """Copies a value to the host, without its graph."""
    array = cuda.to_cpu(as_array(value))
    if not isinstance(value, Variable):
        return float(array)
    return Variable(array.copy(), requires_grad=False)


def _mean(values: list[list[Any]]) -> float | Variable:
    everything = [value for part in values for value in part]
    arrays = [numpy.asarray(as_array(value)) for value in everything]
    mean = numpy.mean([float(array) for array in arrays])
    dtypes = [x.dtype for x, value in zip(arrays, everything) if isinstance(value, Variable)]
    if not dtypes:
        return float(mean)
    # The dtype that numpy.mean returns for these dtypes.
    dtype = numpy.mean(numpy.zeros(1, numpy.result_type(*dtypes))).dtype
    return Variable(numpy.asarray(mean, dtype), requires_grad=False)
