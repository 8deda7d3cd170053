class TimeTrigger:

    """Trigger that fires each time a number of seconds has passed.

    Args:
        period (float): Seconds, measured by ``trainer.elapsed_time``.

    """

    def __init__(self, period):
        self._period = period
        self._next_time = self._period

    def __call__(self, trainer):
        if self._next_time < trainer.elapsed_time:
            self._next_time += self._period
            return True
        return False

    def serialize(self, serializer):
        """Reads or writes the time of the next firing."""
        self._next_time = serializer('next_time', self._next_time)
