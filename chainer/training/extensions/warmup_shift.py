from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions import _shift

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class WarmupShift(_shift.Shift):
    """Extension that raises a hyperparameter linearly at the start of the training.

    Source: Goyal et al., `Accurate, Large Minibatch SGD
    <https://arxiv.org/abs/1706.02677>`_.

    Args:
        attr (str): Name of the attribute of the optimizer.
        warmup_start (float): Value at the start.
        warmup_iter (int): Number of calls to reach ``init``.
        init (float): Value after warming up; ``None`` for the value of the attribute.
        optimizer: Optimizer; the main one of the updater by default.

    .. admonition:: Example

        >>> optimizer = chainer.optimizers.SGD(lr=1.)
        >>> shift = chainer.training.extensions.WarmupShift('lr', 0.2, 2, None, optimizer)
        >>> shift.initialize(None)
        >>> optimizer.lr
        0.2
        >>> for _ in range(3):
        ...     shift(None)  # what a trainer does
        ...     print(optimizer.lr)
        0.6000000000000001
        1.0
        1.0

    """

    def __init__(
        self,
        attr: str,
        warmup_start: float,
        warmup_iter: int,
        init: float | None,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._warmup_start = warmup_start
        self._warmup_iter = warmup_iter

    def __call__(self, trainer: Trainer) -> None:
        self._t += 1
        if self._t <= self._warmup_iter:  # afterwards, another extension may change it
            self._set(self._get_optimizer(trainer), self._value(self._t))

    def _serialize_value(self, serializer):
        pass  # the number of calls defines it

    def _value(self, t):
        if t >= self._warmup_iter:
            return self._init
        return self._warmup_start + (self._init - self._warmup_start) * (t / self._warmup_iter)
