"""Updaters, which perform training iterations."""

from chainer.training.updaters import gradient_accumulation_updater as gradient_accumulation_updater  # NOQA
from chainer.training.updaters import multiprocess_parallel_updater as multiprocess_parallel_updater  # NOQA
from chainer.training.updaters import parallel_updater as parallel_updater  # NOQA
from chainer.training.updaters import standard_updater as standard_updater  # NOQA
from chainer.training.updaters.gradient_accumulation_updater import (  # NOQA
    GradientAccumulationUpdater as GradientAccumulationUpdater,
)
from chainer.training.updaters.multiprocess_parallel_updater import (  # NOQA
    MultiprocessParallelUpdater as MultiprocessParallelUpdater,
)
from chainer.training.updaters.parallel_updater import ParallelUpdater as ParallelUpdater  # NOQA
from chainer.training.updaters.standard_updater import StandardUpdater as StandardUpdater  # NOQA
