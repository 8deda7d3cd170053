from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class ExponentialShift(_shift.Shift):
    r"""Extension that multiplies a hyperparameter by a factor at each call.

    After ``t`` calls the value is :math:`\mathrm{init} \cdot \mathrm{rate}^t`, but not
    beyond ``target``. The trigger of the extension sets the period.

    Args:
        attr (str): Name of the attribute of the optimizer.
        rate (float): Factor.
        init (float): Initial value; the value of the attribute by default.
        target (float): Value to stop at.
        optimizer: Optimizer; the main one of the updater by default.

    Raises:
        ValueError: If ``rate`` is negative.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.ExponentialShift('lr', 0.5, optimizer=optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(3):
        ...     shift(None)  # what a trainer does
        ...     print(optimizer.lr)
        0.5
        0.25
        0.125

    """

    def __init__(
        self,
        attr: str,
        rate: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if rate < 0:
            raise ValueError('ExponentialShift does not support negative rate')
        super().__init__(attr, init, optimizer)
        self._rate = rate
        self._target = target

    def _value(self, t):
        if t == 0:
            return self._init
        return _shift.limit(self._init * self._rate**t, self._target, self._rate > 1)
