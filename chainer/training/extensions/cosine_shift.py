from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer


class CosineShift(_shift.Shift):
    r"""Extension that changes a hyperparameter along half a cosine wave.

    After ``t`` calls the value is :math:`\mathrm{target} + \frac12 (\mathrm{init} -
    \mathrm{target}) (1 + \cos(\pi \min(t / \mathrm{max\_count}, 1)))`.

    Source: Loshchilov and Hutter, `SGDR: Stochastic Gradient Descent with Warm Restarts
    <https://arxiv.org/abs/1608.03983>`_ (without restarts).

    Args:
        attr (str): Name of the attribute of the optimizer.
        max_count (int): Number of calls to reach ``target``.
        init (float): Initial value; the value of the attribute by default.
        target (float): Final value.
        optimizer: Optimizer; the main one of the updater by default.

    Raises:
        ValueError: If ``max_count`` is not positive.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.CosineShift('lr', 3, optimizer=optimizer)
        >>> shift.initialize(None)
        >>> for _ in range(3):
        ...     shift(None)  # what a trainer does
        ...     print(round(optimizer.lr, 3))
        0.75
        0.25
        0.0

    """

    def __init__(
        self,
        attr: str,
        max_count: int,
        init: float | None = None,
        target: float = 0.0,
        optimizer: Optimizer | None = None,
    ) -> None:
        if max_count <= 0:
            raise ValueError(f'max_count must be positive, but is {max_count}')
        super().__init__(attr, init, optimizer)
        self._max_count = max_count
        self._target = target

    def _value(self, t):
        wave = 0.5 * (1 + math.cos(math.pi * min(t / self._max_count, 1)))
        return self._target + (self._init - self._target) * wave
