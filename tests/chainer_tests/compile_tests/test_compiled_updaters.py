"""Updaters with ``compile=True``, compared bit by bit with the same updaters without."""

import functools
import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers
from chainer.training.updaters import GradientAccumulationUpdater
from chainer.warnings import PerformanceWarning

pytestmark = pytest.mark.chainerx


@pytest.mark.parametrize('compile', [False, True])
def test_updater(compile, tmp_path):
    logs = []
    for is_compiled in False, compile:
        np.random.seed(0)
        chainerx.random.seed(0)
        model = L.Classifier(chainer.Sequential(L.Linear(64, 10), F.relu, L.Linear(10, 10)))
        model.to_device(DEVICE)
        train = chainer.datasets.get_digits()[0][:300]
        iterator = chainer.iterators.SerialIterator(train, 64, shuffle=False)
        optimizer = optimizers.Adam().setup(model)
        updater = chainer.training.StandardUpdater(
            iterator, optimizer, device=DEVICE, compile=is_compiled
        )
        trainer = chainer.training.Trainer(updater, (4, 'epoch'), out=str(tmp_path))
        log = chainer.training.extensions.LogReport(trigger=(1, 'iteration'))
        trainer.extend(log)
        trainer.extend(chainer.training.extensions.ExponentialShift('alpha', 0.9))
        trainer.run()
        for entry in log.log:
            del entry['elapsed_time']
        logs.append((log.log, state_of(model, optimizer)))
        if is_compiled:
            assert updater._update.replays >= 10, updater._update.report()
    assert logs[0] == logs[1]


class OwnCore(chainer.training.StandardUpdater):
    def update_core(self):
        self.get_optimizer('main').update(lambda: F.sum(self.get_optimizer('main').target.W))


class CallsSuper(chainer.training.StandardUpdater):
    def update_core(self):
        super().update_core()


class InheritsOwnCore(OwnCore):
    pass


class AccumulatesOtherwise(GradientAccumulationUpdater):
    def update_core(self):
        self.get_optimizer('main').update()


@pytest.mark.parametrize(
    ('updater', 'name'),
    [
        (chainer.training.StandardUpdater, None),
        (CallsSuper, None),
        (OwnCore, 'OwnCore.update_core'),
        (InheritsOwnCore, 'OwnCore.update_core'),
        (functools.partial(GradientAccumulationUpdater, accumulation_steps=2), None),
        (
            functools.partial(AccumulatesOtherwise, accumulation_steps=2),
            'AccumulatesOtherwise.update_core',
        ),
    ],
    ids=['standard', 'super', 'own', 'inherited', 'accumulation', 'own accumulation'],
)
def test_updater_says_where_compile_has_no_effect(updater, name):
    optimizer = optimizers.SGD().setup(L.Linear(2, 2))
    iterator = chainer.iterators.SerialIterator([(np.zeros(2, 'f'), np.int32(0))], 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        updater(iterator, optimizer)
        assert not caught
        updater(iterator, optimizer, compile=True)
    expected = [] if name is None else [f'compile=True has no effect: {name} replaces']
    assert [str(w.message)[: len(text)] for w, text in zip(caught, expected)] == expected
    assert len(caught) == len(expected)
    assert all(w.category is PerformanceWarning for w in caught)


class Model(chainer.Chain):
    """A classifier that reports, with dropout and a state of batch normalization."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(64, 8)
            self.bn = L.BatchNormalization(8)
            self.l2 = L.Linear(8, 10)

    def forward(self, x, t):
        y = self.l2(F.dropout(F.relu(self.bn(self.l1(x))), 0.2))
        loss = F.softmax_cross_entropy(y, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(y, t), 'n': len(x)}, self)
        return loss


def _accumulate(is_compiled, optimizer, hook, batch_size, tmp_path, **scaling):
    np.random.seed(0)
    chainerx.random.seed(0)
    model = Model().to_device(DEVICE)
    opt = getattr(optimizers, optimizer)().setup(model)
    if hook is not None:
        opt.add_hook(hook)
    if scaling:
        opt.loss_scaling(**scaling)
    train = chainer.datasets.get_digits()[0][:300]
    iterator = chainer.iterators.SerialIterator(train, batch_size, repeat=False, shuffle=False)
    updater = GradientAccumulationUpdater(
        iterator, opt, accumulation_steps=3, device=DEVICE, compile=is_compiled
    )
    reporter = chainer.Reporter()
    reporter.add_observer('main', model)
    observed = []
    with reporter, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for _ in range(5):
            iterator.reset()
            try:
                while True:
                    updater.update()
                    observed.append({k: bits(v) for k, v in reporter.observation.items()})
                    rate = 'alpha' if optimizer == 'Adam' else 'lr'
                    setattr(opt.hyperparam, rate, 0.1 / len(observed))
            except StopIteration:
                pass
    return updater, [observed, state_of(model, opt), opt._loss_scale, opt.t, updater.iteration]


@pytest.mark.parametrize('scaling', [{}, {'scale': 64.0}, {'interval': 3}], ids=str)
@pytest.mark.parametrize(
    ('optimizer', 'hook'),
    [('Adam', None), ('MomentumSGD', hooks.WeightDecay(0.1)), ('SGD', hooks.GradientClipping(1))],
    ids=lambda value: getattr(value, 'name', value),
)
@pytest.mark.parametrize('batch_size', [25, 32])  # of 300 examples
def test_gradient_accumulation(batch_size, optimizer, hook, scaling, tmp_path):
    args = optimizer, hook, batch_size, tmp_path
    _, expected = _accumulate(False, *args, **scaling)
    updater, found = _accumulate(True, *args, **scaling)
    assert found == expected
    for function in updater._backward, updater._apply:
        assert function.replays >= function.calls / 2, function.report()
    # Of equal batches: the first one of an update and the others, once before gradients exist.
    assert updater._backward.recordings <= 3 or batch_size == 32


def test_gradient_accumulation_of_numpy_falls_back():
    model = L.Classifier(L.Linear(64, 10))
    optimizer = optimizers.SGD().setup(model)
    iterator = chainer.iterators.SerialIterator(chainer.datasets.get_digits()[0], 32)
    updater = GradientAccumulationUpdater(iterator, optimizer, 2, compile=True)
    for _ in range(3):
        updater.update()
    assert optimizer.t == 3 and updater._backward.replays == 0
