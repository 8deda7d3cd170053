from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class TimeTrigger:
    """Trigger that fires every ``period`` seconds.

    Args:
        period (float): Seconds, measured by ``trainer.elapsed_time``.

    .. admonition:: Example

        >>> class Clock:  # stands for a trainer
        ...     elapsed_time = 0.
        >>> trigger = chainer.training.triggers.TimeTrigger(10)
        >>> for Clock.elapsed_time in 5., 11., 12., 25.:
        ...     print(Clock.elapsed_time, trigger(Clock))
        5.0 False
        11.0 True
        12.0 False
        25.0 True

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def __init__(self, period: float) -> None:
        self._period = period
        self._next_time = self._period

    def __call__(self, trainer: Trainer) -> bool:
        if self._next_time < trainer.elapsed_time:
            self._next_time += self._period
            return True
        return False

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the time of the next firing."""
        self._next_time = serializer('next_time', self._next_time)
