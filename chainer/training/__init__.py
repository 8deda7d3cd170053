"""Training loop abstraction: trainer, updaters, extensions and triggers.

The examples of extensions and triggers begin after this program, which makes a trainer of two
epochs with four iterations each:

>>> train, test = chainer.datasets.get_digits()
>>> iterator = chainer.iterators.SerialIterator(train[:1000], 250, shuffle=False)
>>> model = L.Classifier(L.Linear(64, 10, initialW=0))
>>> optimizer = chainer.optimizers.MomentumSGD(lr=0.1).setup(model)
>>> updater = chainer.training.StandardUpdater(iterator, optimizer)
>>> trainer = chainer.training.Trainer(updater, (2, 'epoch'))

"""

from chainer._core.names import hints as _hints  # NOQA
from chainer.training import extension as extension  # NOQA
from chainer.training import extensions as extensions  # NOQA
from chainer.training import trigger as trigger  # NOQA
from chainer.training import triggers as triggers  # NOQA
from chainer.training import updater as updater  # NOQA
from chainer.training import updaters as updaters  # NOQA
from chainer.training import util as util  # NOQA
from chainer.training._updater import Updater as Updater  # NOQA
from chainer.training.extension import Extension as Extension  # NOQA
from chainer.training.extension import make_extension as make_extension  # NOQA
from chainer.training.extension import PRIORITY_EDITOR as PRIORITY_EDITOR  # NOQA
from chainer.training.extension import PRIORITY_READER as PRIORITY_READER  # NOQA
from chainer.training.extension import PRIORITY_WRITER as PRIORITY_WRITER  # NOQA
from chainer.training.trainer import Trainer as Trainer  # NOQA
from chainer.training.triggers.interval_trigger import IntervalTrigger as IntervalTrigger  # NOQA
from chainer.training.updaters.parallel_updater import ParallelUpdater as ParallelUpdater  # NOQA
from chainer.training.updaters.standard_updater import StandardUpdater as StandardUpdater  # NOQA
from chainer.training.util import get_trigger as get_trigger  # NOQA


def __getattr__(name: str) -> object:
    raise _hints.of_module(__name__, name)
