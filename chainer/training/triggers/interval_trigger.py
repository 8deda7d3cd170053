from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.triggers import _schedule

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class IntervalTrigger(_schedule.ScheduleTrigger):
    """Trigger that fires every ``period`` iterations or epochs.

    Args:
        period (int or float): Length of the interval. Epochs can be fractional.
        unit (str): ``'iteration'`` or ``'epoch'``.

    Raises:
        ValueError: If ``unit`` is neither of them.

    .. admonition:: Example

        >>> trigger = chainer.training.triggers.IntervalTrigger(0.5, 'epoch')
        >>> trainer.extend(lambda trainer: print(trainer.updater.iteration), 'show', trigger)
        >>> trainer.run()
        2
        4
        6
        8

    """

    count: int

    def __init__(self, period: int | float, unit: str) -> None:
        super().__init__(unit)
        self.period = period
        self.count = 0

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether to fire in this iteration.

        Args:
            trainer (Trainer): Trainer whose updater has the progress.

        Returns:
            bool: Whether an interval ended since the last call.

        """
        previous, current = self._progress(trainer)
        count = current // self.period
        if self.unit == 'epoch':
            self.count = count
        return previous // self.period != count

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.period}, '{self.unit}')"

    def get_training_length(self) -> tuple[float, str]:
        """Returns the pair of the period and its unit."""
        return self.period, self.unit
