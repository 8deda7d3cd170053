"""Evaluation of parts of a dataset in several processes."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from chainer import configuration, function, reporter
from chainer.dataset import _converters, convert
from chainer.training import extension

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.backend import Device
    from chainer.training.trainer import Trainer
    from chainer.types import DeviceSpec, TriggerSpec
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def create_multi_node_evaluator(actual_evaluator: Any, communicator: MpiCommunicatorBase) -> Any:
    """Makes an evaluator report the means over the parts of all processes.

    The means are weighted by the number of examples of each process, so parts may differ in length
    or be empty. To count each example once, divide the dataset by
    ``scatter_dataset(..., force_equal_length=False)``. All processes get the result; calls of the
    evaluator are collective.

    Args:
        actual_evaluator: Evaluator of this process's part, such as
            :class:`chainer.training.extensions.Evaluator`. Its method ``evaluate`` is replaced.
        communicator (CommunicatorBase): Communicator.

    Returns:
        ``actual_evaluator``.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> model = L.Classifier(L.Linear(64, 10))
        >>> test = chainermn.scatter_dataset(
        ...     chainer.datasets.get_digits()[1], comm, force_equal_length=False)
        >>> iterator = chainer.iterators.SerialIterator(test, 100, repeat=False, shuffle=False)
        >>> evaluator = chainermn.create_multi_node_evaluator(
        ...     chainer.training.extensions.Evaluator(iterator, model), comm)
        >>> sorted(evaluator())
        ['main/accuracy', 'main/loss']

    """
    evaluate = actual_evaluator.evaluate

    def evaluate_everywhere() -> dict[str, float]:
        local = {key: float(value) for key, value in evaluate().items()}
        return _weighted_mean(communicator.allgather_obj((_n_examples(actual_evaluator), local)))

    actual_evaluator.evaluate = evaluate_everywhere
    return actual_evaluator


def _n_examples(evaluator: Any) -> int:
    """Number of examples of an evaluator; 1 if it is unknown."""
    try:
        return len(evaluator.get_iterator('main').dataset)
    except (AttributeError, KeyError, TypeError):
        return 1


def _weighted_mean(parts: list[tuple[int, dict[str, float]]]) -> dict[str, float]:
    """Means of the ranks that have a value."""
    sums: dict[str, float] = collections.defaultdict(float)
    weights: dict[str, int] = collections.defaultdict(int)
    for weight, values in parts:
        if weight > 0:
            for key, value in values.items():
                sums[key] += weight * value
                weights[key] += weight
    return {key: sums[key] / weights[key] for key in sums}


class GenericMultiNodeEvaluator(extension.Extension):
    """Evaluator of metrics that are not means, such as BLEU.

    Each process calls :meth:`calc_local` for its batches. The root calls :meth:`aggregate` with
    what all calls have returned. If that gives a dict, it is reported. Subclasses define one of
    them or both. Calls are collective.

    Args:
        comm (CommunicatorBase): Communicator.
        iterator: Iterator of this process's part, which does not repeat.
        target (callable): Model.
        device: Device specifier of the batches.
        converter: Function that converts a batch to arrays on a device.
        root (int): Rank that aggregates.

    .. admonition:: Example

        >>> class Largest(chainermn.extensions.GenericMultiNodeEvaluator):
        ...     def calc_local(self, x):
        ...         return self.target(x)
        ...     def aggregate(self, results):
        ...         return {'largest': max(results)}
        >>> comm = chainermn.create_communicator('naive')
        >>> iterator = chainer.iterators.SerialIterator(
        ...     np.arange(5), 2, repeat=False, shuffle=False)
        >>> evaluator = Largest(comm, iterator, lambda x: int(x.sum()))
        >>> with chainer.reporter.Reporter().scope({}) as observation:
        ...     evaluator(None)
        {'largest': 5}

    """

    trigger: TriggerSpec = 1, 'epoch'
    default_name = 'validation'
    priority = extension.PRIORITY_WRITER
    name: str | None = None

    def __init__(
        self,
        comm: MpiCommunicatorBase,
        iterator: Any,
        target: Callable[..., Any],
        device: DeviceSpec | None = None,
        converter: Callable[..., Any] = convert.concat_examples,
        root: int = 0,
        **kwargs: Any,
    ) -> None:
        self.comm = comm
        self.iterator = iterator
        self._targets = {'main': target}
        self.target = target
        self.converter = converter
        self.root = root
        self.device: Device | None = _converters.get_device(device)
        vars(self).update(kwargs)

    def __call__(self, trainer: Trainer | None) -> Any:
        """Evaluates; collective.

        Returns:
            What :meth:`aggregate` has returned, on the root; ``None`` elsewhere.

        """
        self.iterator.reset()
        local = []
        with configuration.using_config('train', False), function.no_backprop_mode():
            for batch in self.iterator:
                arrays = _converters.call_converter(self.converter, batch, self.device)
                local.append(_converters.call_with(self.calc_local, arrays))
        gathered = self.comm.gather_obj(local, self.root)
        if gathered is None:
            return None
        result = self.aggregate([value for values in gathered for value in values])
        if isinstance(result, dict):
            prefix = '' if self.name is None else f'{self.name}/'
            reporter.report({prefix + key: value for key, value in result.items()})
        return result

    def calc_local(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluates a batch; by default calls the target.

        Args:
            args, kwargs: Arrays of the batch.

        Returns:
            Anything that can be pickled.

        """
        return self._targets['main'](*args, **kwargs)

    def aggregate(self, results: list[Any]) -> Any:
        """Combines the results of all batches; called on the root. By default returns them.

        Args:
            results (list): Values of :meth:`calc_local` of all batches, in the order of the ranks.

        Returns:
            Values to report by name, or anything else, which is not reported.

        """
        return results
