"""Old module path of the updaters."""

from chainer.training._updater import Updater  # NOQA
from chainer.training.updaters import MultiprocessParallelUpdater  # NOQA
from chainer.training.updaters import ParallelUpdater  # NOQA
from chainer.training.updaters import StandardUpdater  # NOQA
