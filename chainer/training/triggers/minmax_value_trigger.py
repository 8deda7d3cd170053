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
        >>> from chainer import testing
        >>> trainer = testing.get_trainer_with_mock_updater()
        >>> trigger = chainer.training.triggers.BestValueTrigger(
        ...     'accuracy', operator.lt, (1, 'iteration'))
        >>> for accuracy in .5, .4, .6:
        ...     trainer.updater.update()
        ...     trainer.observation = {'accuracy': accuracy}
        ...     print(accuracy, trigger(trainer))
        0.5 True
        0.4 False
        0.6 True

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

        >>> from chainer import testing
        >>> trainer = testing.get_trainer_with_mock_updater()
        >>> trigger = chainer.training.triggers.MaxValueTrigger('accuracy', (1, 'iteration'))
        >>> for accuracy in .5, .4, .6:
        ...     trainer.updater.update()
        ...     trainer.observation = {'accuracy': accuracy}
        ...     print(accuracy, trigger(trainer))
        0.5 True
        0.4 False
        0.6 True

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

        >>> from chainer import testing
        >>> trainer = testing.get_trainer_with_mock_updater()
        >>> trigger = chainer.training.triggers.MinValueTrigger('loss', (1, 'iteration'))
        >>> for loss in 3., 4., 2.:
        ...     trainer.updater.update()
        ...     trainer.observation = {'loss': loss}
        ...     print(loss, trigger(trainer))
        3.0 True
        4.0 False
        2.0 True

    """

    def __init__(self, key: str, trigger: TriggerSpec = (1, 'epoch')) -> None:
        super().__init__(key, operator.gt, trigger)
