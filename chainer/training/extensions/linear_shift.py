from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class LinearShift(_shift.Shift):
    """Extension that changes a hyperparameter linearly from one value to another.

    Args:
        attr (str): Name of the attribute of the optimizer.
        value_range (tuple of floats): First and last value.
        time_range (tuple of ints): Numbers of calls at which the change starts and ends.
        optimizer: Optimizer; the main one of the updater by default.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD()
        >>> shift = chainer.training.extensions.LinearShift('lr', (1., 0.), (1, 3), optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(4):
        ...     shift(None)  # what a trainer does
        ...     print(optimizer.lr)
        1.0
        0.5
        0.0
        0.0

    """

    def __init__(
        self,
        attr: str,
        value_range: tuple[float, float],
        time_range: tuple[int, int],
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, value_range[0], optimizer)
        self._value_range = value_range
        self._time_range = time_range

    def _value(self, t):
        t1, t2 = self._time_range
        v1, v2 = self._value_range
        if t <= t1:
            return v1
        if t >= t2:
            return v2
        return v1 + (v2 - v1) * ((t - t1) / (t2 - t1))
