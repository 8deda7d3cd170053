from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.models import saving
from chainer.training import extension

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class Shift(extension.Extension):
    """Base of the extensions that change a hyperparameter of an optimizer over time.

    A subclass defines the value as a function of the number of calls. The extension sets it
    before the training starts (for zero calls) and at each call.
    """

    def __init__(
        self, attr: str, init: float | None = None, optimizer: Optimizer | None = None
    ) -> None:
        self._attr = attr
        self._init: Any = init  # a number from initialize on
        self._optimizer = optimizer
        self._t = 0
        self._last_value = None

    def _value(self, t):
        """Returns the value after ``t`` calls."""
        raise NotImplementedError

    def initialize(self, trainer: Trainer) -> None:
        optimizer = self._get_optimizer(trainer)
        if self._init is None:
            self._init = getattr(optimizer, self._attr)
        if self._last_value is None:
            self._set(optimizer, self._value(self._t))
        else:  # resumed
            self._set(optimizer, self._last_value)

    def __call__(self, trainer: Trainer) -> None:
        self._t += 1
        self._set(self._get_optimizer(trainer), self._value(self._t))

    def _get_optimizer(self, trainer):
        return self._optimizer or trainer.updater.get_optimizer('main')

    def _set(self, optimizer, value):
        setattr(optimizer, self._attr, value)
        self._last_value = value

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the number of calls and the value."""
        self._t = serializer('_t', self._t)
        self._serialize_value(serializer)
        # With init=None, the initial value comes from the optimizer at the first start; when
        # training resumes, the optimizer may have a different value.
        if saving.takes_extras(serializer):
            try:
                init = _item(serializer('_init', self._init))
            except KeyError:  # for example a snapshot of Chainer 7
                return
            if self._init is None:
                self._init = init

    def _serialize_value(self, serializer):
        self._last_value = _item(serializer('_last_value', self._last_value))


def _item(value):
    return value.item() if isinstance(value, numpy.ndarray) else value


def limit(value, target, growing):
    """Returns the value, but not beyond a target (``None``: no target)."""
    if target is None:
        return value
    if value == 0:
        return value if growing else target
    rest = target / value  # also for negative values
    beyond = rest < 1 if growing else rest > 1
    return target if beyond else value
