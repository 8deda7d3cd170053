from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from chainer._core.reports import representation

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class OnceTrigger:
    """Trigger that fires at its first call only.

    Args:
        call_on_resume (bool): If true, it also fires once after resuming.

    .. admonition:: Example

        >>> trigger = chainer.training.triggers.OnceTrigger()
        >>> trainer.extend(lambda trainer: print(trainer.updater.iteration), 'show', trigger)
        >>> trainer.run()
        1
        >>> trigger.finished
        True

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def __init__(self, call_on_resume: bool = False) -> None:
        self._flag_first = True
        self._flag_resumed = call_on_resume

    @property
    def finished(self) -> bool:
        """Whether the trigger has fired for the last time."""
        return not (self._flag_first or self._flag_resumed)

    def __call__(self, trainer: Trainer) -> bool:
        fire = not self.finished
        self._flag_resumed = False
        self._flag_first = False
        return fire

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes whether it has been called."""
        try:
            self._flag_first = serializer('_flag_first', self._flag_first)
        except KeyError:
            warnings.warn(
                'The flag is not saved. OnceTrigger guesses that it was called before. If it was '
                'not, it may not work correctly.'
            )
            self._flag_first = False
