from chainer.training.triggers import _schedule


class IntervalTrigger(_schedule.ScheduleTrigger):
    """Trigger that fires every ``period`` iterations or epochs.

    Args:
        period (int or float): Length of the interval. Epochs can be fractional.
        unit (str): ``'iteration'`` or ``'epoch'``.

    Raises:
        ValueError: If ``unit`` is neither of them.

    .. admonition:: Example

        >>> from chainer import testing
        >>> trainer = testing.get_trainer_with_mock_updater(iter_per_epoch=4)
        >>> trigger = chainer.training.triggers.IntervalTrigger(0.5, 'epoch')
        >>> for _ in range(6):
        ...     trainer.updater.update()
        ...     if trigger(trainer):
        ...         print(trainer.updater.iteration)
        2
        4
        6

    """

    def __init__(self, period, unit):
        super().__init__(unit)
        self.period = period
        self.count = 0

    def __call__(self, trainer):
        """Decides whether to fire in this iteration.

        Args:
            trainer (Trainer): Trainer whose updater has the progress.

        Returns:
            bool: Whether an interval ended since the last call.

        """
        previous, current = self._progress(trainer)
        self.count = count = current // self.period
        return previous // self.period != count

    def __str__(self):
        return f"{type(self).__name__}({self.period}, '{self.unit}')"

    def get_training_length(self):
        """Returns the pair of the period and its unit."""
        return self.period, self.unit
