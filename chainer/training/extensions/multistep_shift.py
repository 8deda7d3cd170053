from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.optimizer import Optimizer


class MultistepShift(_shift.Shift):
    r"""Extension that multiplies a hyperparameter by a factor at given numbers of calls.

    After ``t`` calls the value is :math:`\mathrm{init} \cdot \mathrm{gamma}^k`, where ``k`` is
    the number of steps up to ``t``.

    Args:
        attr (str): Name of the attribute of the optimizer.
        gamma (float): Factor.
        step_value (list of ints): Steps, ascending.
        init (float): Initial value; ``None`` for the value of the attribute.
        optimizer: Optimizer; the main one of the updater by default.

    Raises:
        ValueError: If ``gamma`` is negative.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.MultistepShift('lr', 0.5, [2, 3], None, optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(4):
        ...     shift(None)  # what a trainer does
        ...     print(optimizer.lr)
        1.0
        0.5
        0.25
        0.25

    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        step_value: Sequence[int],
        init: float | None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if gamma < 0:
            raise ValueError('MultistepShift does not support negative gamma')
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._step_value = list(step_value)

    def _value(self, t):
        return self._init * self._gamma ** self._n_steps(t)

    def _n_steps(self, t):
        return bisect.bisect_right(self._step_value, t)

    def _serialize_value(self, serializer):
        serializer('_current_step', self._n_steps(self._t))  # only Chainer 7 reads it
