"""Triggers: when to call an extension or to stop.

In the examples ``trainer``, ``updater`` and ``optimizer`` are those of :mod:`chainer.training`.
"""

from chainer.training.triggers import early_stopping_trigger as early_stopping_trigger  # NOQA
from chainer.training.triggers import interval_trigger as interval_trigger  # NOQA
from chainer.training.triggers import minmax_value_trigger as minmax_value_trigger  # NOQA
from chainer.training.triggers.early_stopping_trigger import (
    EarlyStoppingTrigger as EarlyStoppingTrigger,
)  # NOQA
from chainer.training.triggers.interval_trigger import IntervalTrigger as IntervalTrigger  # NOQA
from chainer.training.triggers.manual_schedule_trigger import (
    ManualScheduleTrigger as ManualScheduleTrigger,
)  # NOQA
from chainer.training.triggers.minmax_value_trigger import BestValueTrigger as BestValueTrigger  # NOQA
from chainer.training.triggers.minmax_value_trigger import MaxValueTrigger as MaxValueTrigger  # NOQA
from chainer.training.triggers.minmax_value_trigger import MinValueTrigger as MinValueTrigger  # NOQA
from chainer.training.triggers.once_trigger import OnceTrigger as OnceTrigger  # NOQA
from chainer.training.triggers.time_trigger import TimeTrigger as TimeTrigger  # NOQA
