"""Old module path of the triggers."""

from chainer.training.triggers import BestValueTrigger as BestValueTrigger  # NOQA
from chainer.training.triggers import EarlyStoppingTrigger as EarlyStoppingTrigger  # NOQA
from chainer.training.triggers import IntervalTrigger as IntervalTrigger  # NOQA
from chainer.training.triggers import ManualScheduleTrigger as ManualScheduleTrigger  # NOQA
from chainer.training.triggers import MaxValueTrigger as MaxValueTrigger  # NOQA
from chainer.training.triggers import MinValueTrigger as MinValueTrigger  # NOQA
from chainer.training.triggers import OnceTrigger as OnceTrigger  # NOQA
from chainer.training.triggers import TimeTrigger as TimeTrigger  # NOQA
from chainer.training.util import get_trigger as get_trigger  # NOQA
