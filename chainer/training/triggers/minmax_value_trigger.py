from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from chainer import reporter
from chainer._core.reports import representation
from chainer.training import _serialization, util

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


class BestValueTrigger:
    """Trigger that fires when an observed value becomes the best so far.

    Another trigger ends the intervals. The mean over each interval is compared with the best one.

    Args:
        key (str): Key of the value in the observation.
        compare: Function of the best value so far and a new one that returns whether the
            new one is better.
        trigger: Trigger that ends the intervals, see
            :func:`~chainer.training.get_trigger`.

    .. admonition:: Example

        >>> import operator
        >>> trigger = chainer.training.triggers.BestValueTrigger(
        ...     'main/accuracy', operator.lt, (1, 'iteration'))
        >>> trainer.extend(chainer.training.extensions.LogReport(trigger=trigger))
        >>> trainer.run()
        >>> [entry['iteration'] for entry in trainer.get_extension('LogReport').log]
        [1, 2, 3, 4, 5, 6, 8]

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def __init__(
        self, key: str, compare: Callable[[float, float], bool], trigger: TriggerSpec = (1, 'epoch')
    ) -> None:
        self._key = key
        self._best_value: float | None = None
        self._interval_trigger = util.get_trigger(trigger)
        self._summary = reporter.DictSummary()
        self._compare = compare

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether to fire in this iteration.

        Args:
            trainer (Trainer): Trainer with the value in its observation.

        Raises:
            KeyError: If no observation of the interval contains the value.

        """
        if self._key in trainer.observation:
            self._summary.add({self._key: trainer.observation[self._key]})
        if not self._interval_trigger(trainer):
            return False

        value = self._mean(trainer)
        self._summary = reporter.DictSummary()
        if self._best_value is None or self._compare(self._best_value, value):
            self._best_value = value
            return True
        return False

    def _mean(self, trainer):
        means = self._summary.compute_mean()
        if self._key not in means:
            names = ', '.join(trainer.observation) or 'nothing'
            raise KeyError(
                f'{self._key!r} has not been reported since the last call: the observation has '
                f'{names}. An Evaluator, which comes first, reports values of validation.'
            )
        return float(means[self._key])  # copies from a GPU

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the best value and the current interval."""
        _serialization.serialize_part(self._interval_trigger, serializer, 'interval_trigger')
        self._summary.serialize(serializer['summary'])
        best = serializer('best_value', self._best_value)
        self._best_value = None if best is None else float(best)


class MaxValueTrigger(BestValueTrigger):
    """Trigger that fires when an observed value becomes the largest so far.

    Args:
        key (str): Key of the value in the observation.
        trigger: Trigger that makes the intervals over which the value is averaged.

    .. seealso:: :class:`BestValueTrigger`

    .. admonition:: Example

        >>> trigger = chainer.training.triggers.MaxValueTrigger('main/accuracy', (1, 'iteration'))
        >>> trainer.extend(chainer.training.extensions.LogReport(trigger=trigger))
        >>> trainer.run()
        >>> [entry['iteration'] for entry in trainer.get_extension('LogReport').log]
        [1, 2, 3, 4, 5, 6, 8]

    """

    def __init__(self, key: str, trigger: TriggerSpec = (1, 'epoch')) -> None:
        super().__init__(key, operator.lt, trigger)


class MinValueTrigger(BestValueTrigger):
    """Trigger that fires when an observed value becomes the smallest so far.

    Args:
        key (str): Key of the value in the observation.
        trigger: Trigger that makes the intervals over which the value is averaged.

    .. seealso:: :class:`BestValueTrigger`

    .. admonition:: Example

        >>> trigger = chainer.training.triggers.MinValueTrigger('main/loss', (1, 'iteration'))
        >>> trainer.extend(chainer.training.extensions.LogReport(trigger=trigger))
        >>> trainer.run()
        >>> [entry['iteration'] for entry in trainer.get_extension('LogReport').log]
        [1, 2, 3, 4, 5, 6, 7, 8]

    """

    def __init__(self, key: str, trigger: TriggerSpec = (1, 'epoch')) -> None:
        super().__init__(key, operator.gt, trigger)
