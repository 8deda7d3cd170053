from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

from chainer import reporter
from chainer._core.models import saving
from chainer._core.reports import representation
from chainer.training import _serialization, util
from chainer.utils import argument

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


class EarlyStoppingTrigger:
    """Trigger that ends the training when an observed value stops improving.

    Use it as ``stop_trigger`` of a trainer.

    Args:
        check_trigger: Trigger that ends the intervals. The mean over each interval is compared
            with the best one.
        monitor (str): Key of the value in the observation.
        patience (int): Number of intervals without improvement that ends the training; 3 by
            default.
        mode (str): ``'max'`` if larger values are better, ``'min'`` if smaller ones are, or
            ``'auto'``, which is ``'max'`` if ``monitor`` contains ``'accuracy'``.
        verbose (bool): If true, prints the decision.
        max_trigger: Trigger that ends the training in any case.

    .. admonition:: Example

        >>> trigger = chainer.training.triggers.EarlyStoppingTrigger(
        ...     (1, 'iteration'), 'main/loss', patience=2)
        >>> trainer = chainer.training.Trainer(updater, trigger)
        >>> optimizer.lr = 0  # so that nothing improves
        >>> trainer.run()
        >>> updater.iteration
        3

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    count: int
    best: float

    def __init__(
        self,
        check_trigger: TriggerSpec = (1, 'epoch'),
        monitor: str = 'main/loss',
        patience: int | None = None,
        mode: str = 'auto',
        verbose: bool = False,
        max_trigger: TriggerSpec = (100, 'epoch'),
        **kwargs: Any,
    ) -> None:
        # The argument was called patients in version 3.
        (patients,) = argument.parse_kwargs(kwargs, ('patients', None))
        if patients is not None:
            if patience is not None:
                raise TypeError(
                    "Both 'patience' and its alias 'patients' are given. Give only 'patience'."
                )
            patience = patients
        elif patience is None:
            patience = 3
        self.count = 0
        self.patience = patience
        self.monitor = monitor
        self.verbose = verbose
        self.already_warning = False
        self._max_trigger: Any = util.get_trigger(max_trigger)
        self._interval_trigger = util.get_trigger(check_trigger)
        self._summary = reporter.DictSummary()

        if mode == 'max' or (mode != 'min' and 'accuracy' in monitor):
            self._compare = operator.gt
            self.best = float('-inf')
        else:
            self._compare = operator.lt
            self.best = float('inf')
        if verbose:
            print(
                'early stopping: operator is {}'.format(
                    'greater' if self._compare is operator.gt else 'less'
                )
            )

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether the training ends.

        Args:
            trainer (Trainer): Trainer with the value in its observation.

        """
        if self.monitor in trainer.observation:
            self._summary.add({self.monitor: trainer.observation[self.monitor]})
        if self._max_trigger(trainer):
            return True
        if not self._interval_trigger(trainer):
            return False

        statistics = self._summary.compute_mean()
        if self.monitor not in statistics:
            warnings.warn(f'{self.monitor} is not in observation')
            return False
        self._summary = reporter.DictSummary()
        self._judge(float(statistics[self.monitor]))
        stops = self.count >= self.patience
        if stops and self.verbose:
            print(f'Epoch {trainer.updater.epoch}: early stopping')
        return stops

    def _judge(self, value):
        """Counts the values since the best one."""
        if self._compare(value, self.best):
            self.best = value
            self.count = 0
        else:
            self.count += 1

    def get_training_length(self) -> tuple[float, str]:
        """Returns the maximum length of the training."""
        return self._max_trigger.get_training_length()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the best value, the used patience and the triggers."""
        if not saving.takes_extras(serializer):
            return
        try:
            self.best = serializer('best', self.best)
            self.count = serializer('count', self.count)
        except KeyError:  # for example a snapshot of Chainer 7
            return
        _serialization.serialize_extras(
            {
                'summary': self._summary,
                'max_trigger': self._max_trigger,
                'interval_trigger': self._interval_trigger,
            },
            serializer,
        )
