from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class PolynomialShift(_shift.Shift):
    r"""Extension that changes a hyperparameter by a power function, usually to zero.

    After ``t`` calls the value is
    :math:`\mathrm{init} \cdot \max(1 - t / \mathrm{max\_count}, 0)^{\mathrm{rate}}`, but not
    beyond ``target``.

    Args:
        attr (str): Name of the attribute of the optimizer.
        rate (float): Exponent. A negative one lets the value grow.
        max_count (int): Number of calls to reach zero, or infinity.
        init (float): Initial value; the value of the attribute by default.
        target (float): Value to stop at.
        optimizer: Optimizer; the main one of the updater by default.

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
        super().__init__(attr, init, optimizer)
        self._rate = rate
        self._max_count = max_count
        self._target = target

    def _value(self, t):
        if t == 0:
            return self._init
        rest = max(1 - t / self._max_count, 0)
        if rest == 0 and self._rate < 0 and self._target is not None:
            return self._target  # the power is infinite
        return _shift.limit(self._init * rest**self._rate, self._target, self._rate < 0)
