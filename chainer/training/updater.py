"""Updaters under the module path of old versions."""

from chainer.training._updater import Updater as Updater  # NOQA
from chainer.training.updaters import MultiprocessParallelUpdater as MultiprocessParallelUpdater  # NOQA
from chainer.training.updaters import ParallelUpdater as ParallelUpdater  # NOQA
from chainer.training.updaters import StandardUpdater as StandardUpdater  # NOQA
