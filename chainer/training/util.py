from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.triggers import interval_trigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


def get_trigger(trigger: TriggerSpec | None) -> Callable[[Trainer], bool]:
    """Makes a trigger from a short form.

    Args:
        trigger: A callable, which is returned; a pair ``(period, unit)`` for an
            :class:`~chainer.training.triggers.IntervalTrigger`; or ``None`` for a trigger
            that never fires.

    Returns:
        Callable of a trainer that returns whether to fire.

    Raises:
        TypeError: If it is something else.
        ValueError: If the unit is neither ``'epoch'`` nor ``'iteration'``.

    .. admonition:: Example

        >>> print(chainer.training.get_trigger((2, 'epoch')))
        IntervalTrigger(2, 'epoch')
        >>> chainer.training.get_trigger(None)(None)
        False

    """
    if trigger is None:
        return _never_fire_trigger
    if callable(trigger):
        return trigger
    if not isinstance(trigger, (tuple, list)) or len(trigger) != 2:
        raise TypeError(
            "a trigger must be a pair such as (1, 'epoch') or (100, 'iteration'), a callable or "
            f'None, but {trigger!r} was given'
        )
    return interval_trigger.IntervalTrigger(*trigger)


def _never_fire_trigger(trainer):
    return False
