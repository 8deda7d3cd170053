from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class PolynomialShift(_shift.Shift):
    r"""Extension that decreases a hyperparameter to zero by a power function.

    After ``t`` calls the value is
    :math:`\mathrm{init} \cdot \max(1 - t / \mathrm{max\_count}, 0)^{\mathrm{rate}}`, but not
    beyond ``target``.

    Args:
        attr (str): Name of the attribute of the optimizer.
        rate (float): Exponent.
        max_count (int): Number of calls to reach zero.
        init (float): Initial value; the value of the attribute by default.
        target (float): Value to stop at.
        optimizer: Optimizer; the main one of the updater by default.

    Raises:
        ValueError: If ``rate`` is negative.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.PolynomialShift('lr', 2, 4, optimizer=optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(4):
        ...     shift(None)  # what a trainer does
        ...     print(optimizer.lr)
        0.5625
        0.25
        0.0625
        0.0

    """

    invoke_before_training = True

    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if rate < 0:
            raise ValueError('PolynomialShift does not support negative rate')
        super().__init__(attr, init, optimizer)
        self._rate = rate
        self._max_count = max_count
        self._target = target

    def _value(self, t):
        if t == 0:
            return self._init
        value = self._init * max(1 - t / self._max_count, 0) ** self._rate
        return _shift.limit(value, self._target, False)
