from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.triggers import _schedule

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class ManualScheduleTrigger(_schedule.ScheduleTrigger):
    """Trigger that fires at given iterations or epochs.

    Args:
        points (int, float or list): When to fire.
        unit (str): ``'iteration'`` or ``'epoch'``.

    Attributes:
        finished (bool): Whether the training has passed the last point.

    Raises:
        ValueError: If ``unit`` is neither of them.

    .. admonition:: Example

        >>> trigger = chainer.training.triggers.ManualScheduleTrigger([2, 5], 'iteration')
        >>> trainer.extend(lambda trainer: print(trainer.updater.iteration), 'show', trigger)
        >>> trainer.run()
        2
        5
        >>> trigger.finished
        True

    """

    finished: bool

    def __init__(self, points: float | list[float], unit: str) -> None:
        super().__init__(unit)
        self.points: list[float] = points if isinstance(points, list) else [points]
        self.finished = False

    def __call__(self, trainer: Trainer) -> bool:
        """Decides whether to fire in this iteration.

        Args:
            trainer (Trainer): Trainer whose updater has the progress.

        Returns:
            bool: Whether the training passed a point since the last call.

        """
        previous, current = self._progress(trainer)
        points = self.points
        self.finished = len(points) > 0 and current >= max(points)
        return any(previous < point <= current for point in points)

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        try:
            self.finished = serializer('finished', self.finished)
        except KeyError:
            self.finished = False  # the next call decides
