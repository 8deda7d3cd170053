"""What scripts look like to type checkers. mypy checks this file; nothing runs it."""

from typing import Any

import numpy as np
from typing_extensions import assert_type

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import training
from chainer.training import extensions
from chainer.types import Dataset, NdArray


class Net(chainer.Chain):
    def __init__(self, n_out: int) -> None:
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, 8, 3, pad=1)
            self.fc = L.Linear(None, n_out)

    def forward(self, x: NdArray) -> chainer.Variable:
        h = F.max_pooling_2d(F.relu(self.conv(x)), 2)
        return self.fc(F.dropout(h))


class Untyped(chainer.Chain):
    def forward(self, x):
        return x


net = Net(10)
x = np.zeros((2, 3, 8, 8), np.float32)
y = net(x)
assert_type(y, chainer.Variable)
assert_type(net.fc(y), chainer.Variable)
assert_type(Net(10).to_device('native'), Net)
assert_type(net.fc.b, chainer.Parameter | None)
assert_type(Untyped()(x), Any)
net.fc(y, n_axes=2)  # type: ignore[call-arg]

assert_type(y * 2 + y[0], chainer.Variable)
assert_type(F.sum(y, axis=1), chainer.Variable)
assert_type(F.dropout(y, 0.1), chainer.Variable)
assert_type(F.max_pooling_2d(x, 2, return_indices=True), tuple[chainer.Variable, NdArray])
assert_type(y.shape, tuple[int, ...])
np.testing.assert_allclose(y.array, y.array.copy())
F.relu('x')  # type: ignore[arg-type]

optimizer = chainer.optimizers.Adam(alpha=1e-3).setup(net)
assert_type(optimizer, chainer.optimizers.Adam)
assert_type(optimizer.t, int)
optimizer.no_such_method()  # type: ignore[attr-defined]
optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))

train, test = chainer.datasets.get_digits()
assert_type(train, Dataset[tuple[np.ndarray, Any]])
assert_type(chainer.datasets.get_digits(withlabel=False)[0], Dataset)
iterator = chainer.iterators.SerialIterator(train, 100)
assert_type(iterator.next(), list[tuple[np.ndarray, Any]])
assert_type(chainer.dataset.concat_examples(iterator.next()), tuple[NdArray, ...])
with chainer.iterators.MultithreadIterator([3, 1, 4], 2) as integers:
    assert_type(next(integers), list[int])
assert_type(iterator.epoch_detail, float)
pairs = [(np.zeros(3), 0), (np.ones(3), 1)]
assert_type(chainer.dataset.concat_examples(pairs), tuple[NdArray, ...])
assert_type(chainer.dataset.concat_examples([{'x': 1.5}], '@numpy'), dict[str, NdArray])
assert_type(chainer.dataset.concat_examples([1.5]), NdArray)
updater = training.StandardUpdater(iterator, optimizer, device='@numpy')
trainer = training.Trainer(updater, (2, 'epoch'), out='result')
assert_type(trainer.updater, training.Updater)
assert_type(trainer.updater.epoch, int)
assert_type(trainer.updater.get_optimizer('main'), chainer.Optimizer)
trainer.extend(extensions.Evaluator(chainer.iterators.SerialIterator(test, 100), net))
trainer.extend(extensions.LogReport(), trigger=(1, 'epoch'))
trainer.extend(extensions.PrintReport(['epoch', 'main/loss']))


@training.make_extension(trigger=(1, 'epoch'))
def report(trainer: training.Trainer) -> None:
    print(trainer.updater.epoch)


with chainer.no_backprop_mode(), chainer.using_config('train', False):
    assert_type(net(x), chainer.Variable)
assert_type(chainerx.ones((2, 3)) + 1, chainerx.ndarray)


def to_host(array: NdArray) -> np.ndarray:
    if isinstance(array, chainer.backends.cuda.ndarray):
        F.relu(array)
        return array.get()
    return chainer.backends.cuda.to_cpu(array)


assert_type(chainer.Chain(layer=L.Linear(2)).layer, Any)
layers = chainer.ChainList(L.Linear(3), L.Linear(2))
assert_type(layers[0], chainer.Link)
assert_type(layers[1:], list[chainer.Link])
assert_type(chainer.Sequential(L.Linear(3), F.relu)(x), chainer.Variable)


@chainer.compile
def step(x: NdArray, scale: float = 1.0) -> chainer.Variable:
    return F.sum(net(x)) * scale


@chainer.compile(max_plans=8)
def double(x: NdArray) -> chainer.Variable:
    return F.add(x, x)


assert_type(step(x, scale=2.0), chainer.Variable)
assert_type(step.replays, int)
assert_type(double(x), chainer.Variable)
step(x, size=2)  # type: ignore[call-arg]
step('x')  # type: ignore[arg-type]
