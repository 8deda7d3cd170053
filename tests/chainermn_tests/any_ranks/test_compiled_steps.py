"""Compiled training steps with optimizers of several ranks."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
import chainerx
from chainer import iterators, training

pytestmark = pytest.mark.skipif(not chainerx.is_available(), reason='needs ChainerX')

OPTIONS = {
    'plain': {},
    'sharded': {'sharded': True},
    'sharded gradients': {'sharded': 'gradients'},
    'double buffering': {'double_buffering': True},
}


def train(comm, is_compiled, **options):
    numpy.random.seed(0)
    model = L.Classifier(chainer.Sequential(L.Linear(64, 16), F.relu, L.Linear(16, 10)))
    adam = chainer.optimizers.Adam()
    optimizer = chainermn.create_multi_node_optimizer(adam, comm, **options).setup(model)
    digits = chainer.datasets.get_digits()[0][:120]
    part = chainermn.scatter_dataset(digits, comm, shuffle=True, seed=1)
    iterator = iterators.SerialIterator(part, 10)
    updater = training.StandardUpdater(iterator, optimizer, device='native:0', compile=is_compiled)
    for _ in range(8):
        updater.update()
    arrays = [chainerx.to_numpy(p.array) for _, p in sorted(model.namedparams())]
    return [array.tobytes() for array in arrays], updater


@pytest.mark.parametrize('options', OPTIONS.values(), ids=OPTIONS)
def test_updater(comm, options):
    """Plans compute the gradients, and the results are the same to the bit."""
    expected, _ = train(comm, False, **options)
    actual, updater = train(comm, True, **options)
    assert actual == expected
    assert '8 calls: ' in updater._update.report()
    assert not updater._update.report().startswith('8 calls: 0 ran a plan')


def test_reason(comm):
    """A compiled function that updates runs eagerly, and the report says what to compile."""
    model = L.Linear(3, 2)
    model.to_device('native:0')
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm)
    optimizer.setup(model)

    @chainer.compile
    def step(x):
        optimizer.update(lambda: F.sum(model(x)))

    for _ in range(4):
        step(chainerx.ones((1, 3), 'float32'))
    report = step.report()
    assert 'optimizer is a MultiNodeOptimizer, whose update sends messages' in report
    assert 'call optimizer.update() after it' in report
    assert optimizer.t == 3  # the first update gives all the same parameters
