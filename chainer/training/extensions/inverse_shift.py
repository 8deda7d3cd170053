from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class InverseShift(_shift.Shift):
    r"""Extension that decreases a hyperparameter inversely to the number of calls.

    After ``t`` calls the value is
    :math:`\mathrm{init} \cdot (1 + \mathrm{gamma} \cdot t)^{-\mathrm{power}}`, but not beyond
    ``target``.

    Args:
        attr (str): Name of the attribute of the optimizer.
        gamma (float): Speed.
        power (float): Exponent.
        init (float): Initial value; the value of the attribute by default.
        target (float): Value to stop at.
        optimizer: Optimizer; the main one of the updater by default.

    Raises:
        ValueError: If ``gamma`` is negative.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.InverseShift('lr', 1, 1, optimizer=optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(3):
        ...     shift(None)  # what a trainer does
        ...     print(round(optimizer.lr, 3))
        0.5
        0.333
        0.25

    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        power: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if gamma < 0:
            raise ValueError('InverseShift does not support negative gamma')
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._power = power
        self._target = target

    def _value(self, t):
        if t == 0:
            return self._init
        value = self._init * (1 + self._gamma * t) ** -self._power
        return _shift.limit(value, self._target, self._power < 0)
