from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class StepShift(_shift.Shift):
    r"""Extension that multiplies a hyperparameter by a factor every ``step`` calls.

    After ``t`` calls the value is
    :math:`\mathrm{init} \cdot \mathrm{gamma}^{\lfloor t / \mathrm{step} \rfloor}`, but not
    beyond ``target``.

    Args:
        attr (str): Name of the attribute of the optimizer.
        gamma (float): Factor.
        step (int): Number of calls between two changes.
        init (float): Initial value; the value of the attribute by default.
        target (float): Value to stop at.
        optimizer: Optimizer; the main one of the updater by default.

    Raises:
        ValueError: If ``gamma`` is negative.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.StepShift('lr', 0.5, 2, optimizer=optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(4):
        ...     shift(None)  # what a trainer does
        ...     print(optimizer.lr)
        1.0
        0.5
        0.5
        0.25

    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        step: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if gamma < 0:
            raise ValueError('StepShift does not support negative gamma')
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._step = step
        self._target = target

    def _value(self, t):
        if t == 0:
            return self._init
        value = self._init * self._gamma ** numpy.floor(t / self._step)
        return _shift.limit(value, self._target, self._gamma > 1)
