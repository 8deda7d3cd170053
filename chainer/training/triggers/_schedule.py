from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer


class ScheduleTrigger:
    """Base of the triggers that compare the progress with their last call."""

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    # Where a trigger of iterations finds the epochs for a snapshot. Looking them up in each
    # iteration would take more time than all the rest.
    _updater = None

    def __init__(self, unit: str) -> None:
        if unit not in ('epoch', 'iteration'):
            raise ValueError(
                f"Trigger unit must be either 'epoch' or 'iteration', but {unit!r} is given."
            )
        self.unit = unit
        # A negative value means unknown progress.
        self._previous_iteration = 0
        self._previous_epoch_detail = 0.0

    def _progress(self, trainer):
        """Returns the progress at the last call and now."""
        updater = trainer.updater
        iteration = updater.iteration
        previous: float
        if self.unit == 'iteration':
            previous, current = self._previous_iteration, iteration
            if previous < 0:
                previous = current - 1
            self._updater = updater
        else:
            previous, current = self._previous_epoch_detail, updater.epoch_detail
            if previous < 0:
                previous = updater.previous_epoch_detail or 0.0
            self._previous_epoch_detail = current
        self._previous_iteration = iteration
        return previous, current

    def _get_previous_epoch_detail(self):
        updater = self._updater
        if updater is None:
            return self._previous_epoch_detail
        lag = updater.iteration - self._previous_iteration
        name = {0: 'epoch_detail', 1: 'previous_epoch_detail'}.get(lag, '')
        value = getattr(updater, name, None)
        return -1.0 if value is None else value

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, '_previous_epoch_detail': self._get_previous_epoch_detail()}
        state.pop('_updater', None)
        return state

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the progress at the last call."""
        self._previous_epoch_detail = self._get_previous_epoch_detail()
        self._updater = None
        for name, unknown, source in (
            ('previous_iteration', -1, 'iteration'),
            ('previous_epoch_detail', -1.0, 'epoch_detail'),
        ):
            try:
                value = serializer(name, getattr(self, '_' + name))
            except KeyError:
                warnings.warn(
                    f'The previous value of {source} is not saved. {type(self).__name__} '
                    f'guesses it using current {source}. '
                    'If this trigger is not called at every iteration, it may not work '
                    'correctly.'
                )
                value = unknown
            setattr(self, '_' + name, value)
