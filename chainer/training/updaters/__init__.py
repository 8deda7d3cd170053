"""Updaters, which perform training iterations."""

from chainer.training.updaters import gradient_accumulation_updater  # NOQA
from chainer.training.updaters import multiprocess_parallel_updater  # NOQA
from chainer.training.updaters import parallel_updater  # NOQA
from chainer.training.updaters import standard_updater  # NOQA
from chainer.training.updaters.gradient_accumulation_updater import (  # NOQA
    GradientAccumulationUpdater,
)
from chainer.training.updaters.multiprocess_parallel_updater import (  # NOQA
    MultiprocessParallelUpdater,
)
from chainer.training.updaters.parallel_updater import ParallelUpdater  # NOQA
from chainer.training.updaters.standard_updater import StandardUpdater  # NOQA
