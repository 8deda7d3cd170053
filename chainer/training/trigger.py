"""Old module path of the triggers."""

from chainer.training.triggers import BestValueTrigger  # NOQA
from chainer.training.triggers import EarlyStoppingTrigger  # NOQA
from chainer.training.triggers import IntervalTrigger  # NOQA
from chainer.training.triggers import ManualScheduleTrigger  # NOQA
from chainer.training.triggers import MaxValueTrigger  # NOQA
from chainer.training.triggers import MinValueTrigger  # NOQA
from chainer.training.triggers import OnceTrigger  # NOQA
from chainer.training.triggers import TimeTrigger  # NOQA
from chainer.training.util import get_trigger  # NOQA
