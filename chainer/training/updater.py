"""Old module path of the updaters."""

from chainer.training._updater import Updater as Updater  # NOQA
from chainer.training.updaters import MultiprocessParallelUpdater as MultiprocessParallelUpdater  # NOQA
from chainer.training.updaters import ParallelUpdater as ParallelUpdater  # NOQA
from chainer.training.updaters import StandardUpdater as StandardUpdater  # NOQA
