"""Texts of objects in the interpreter, in messages and in debuggers."""

import pickle

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import datasets, iterators, optimizer_hooks, optimizers
from chainer.training import Trainer, extensions, triggers, updaters

X = np.ones((4, 3), np.float32)


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 2)


class Unreadable(chainer.dataset.DatasetMixin):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def get_example(self, i):
        raise AssertionError('data was read')


class Shout(chainer.training.Extension):
    def __init__(self, word, volume=3, *args, times=1, **kwargs):
        self._word = word
        self.volume = volume
        self.times = times


def _trainer():
    iterator = iterators.SerialIterator(datasets.TupleDataset(X, X), 2, shuffle=False)
    optimizer = optimizers.SGD(0.1).setup(MLP())
    return Trainer(updaters.StandardUpdater(iterator, optimizer), (2, 'epoch'))


_ITERATOR = 'SerialIterator(dataset=<TupleDataset of length 4>, batch_size=2, shuffle=False)'
_UPDATER = f'StandardUpdater(iterator={_ITERATOR}, optimizer=SGD(lr=0.1))'
_EPOCH = "IntervalTrigger(period=1, unit='epoch')"

TEXTS = [
    (optimizers.Adam(), 'Adam(alpha=0.001)'),
    (optimizers.Adam(0.1, eps=1e-4, amsgrad=True), 'Adam(alpha=0.1, eps=0.0001, amsgrad=True)'),
    (optimizers.MomentumSGD().setup(MLP()), 'MomentumSGD(lr=0.01)'),
    (optimizers.SGD(np.float32(0.5)), f'SGD(lr={np.float32(0.5)!r})'),
    (
        optimizers.MomentumSGD(0.5).setup(MLP()).target.l1.W.update_rule,
        'MomentumSGDRule(lr=0.5, momentum=0.9)',
    ),
    (chainer.GradientMethod(), 'GradientMethod()'),
    (
        iterators.SerialIterator(range(9), np.int64(2), shuffle=False, repeat=False),
        f'SerialIterator(dataset=<range of length 9>, batch_size={np.int64(2)!r}, repeat=False, '
        'shuffle=False)',
    ),
    (
        iterators.MultithreadIterator(X, 2, n_threads=3),
        'MultithreadIterator(dataset=<ndarray of shape (4, 3)>, batch_size=2, n_threads=3, '
        'order_sampler=ShuffleOrderSampler())',
    ),
    (datasets.TupleDataset(X, X), '<TupleDataset of length 4>'),
    (datasets.DictDataset(x=X), '<DictDataset of length 4>'),
    (datasets.SubDataset(X, 1, 3), '<SubDataset of length 2>'),
    (datasets.TransformDataset(Unreadable(7), abs), '<TransformDataset of length 7>'),
    (datasets.ConcatenatedDataset(X, X), '<ConcatenatedDataset of length 8>'),
    (Unreadable(3), '<Unreadable of length 3>'),
    (Unreadable('wrong'), '<Unreadable>'),
    (chainer.dataset.tabular.from_data(X), None),
    (triggers.IntervalTrigger(1, 'epoch'), _EPOCH),
    (
        triggers.ManualScheduleTrigger([1, 2], 'epoch'),
        "ManualScheduleTrigger(points=[1, 2], unit='epoch')",
    ),
    (triggers.MinValueTrigger('loss'), "MinValueTrigger(key='loss')"),
    (triggers.OnceTrigger(True), 'OnceTrigger()'),
    (triggers.TimeTrigger(3), 'TimeTrigger(period=3)'),
    (triggers.EarlyStoppingTrigger(), None),
    (extensions.LogReport(), f'LogReport(trigger={_EPOCH})'),
    (extensions.PrintReport(['epoch', 'loss']), "PrintReport(entries=['epoch', 'loss'])"),
    (extensions.ExponentialShift('lr', 0.1), "ExponentialShift(attr='lr', rate=0.1)"),
    (extensions.snapshot(filename='x'), None),
    (
        extensions.Evaluator(iterators.SerialIterator(X, 2, False, False), MLP()),
        'Evaluator(iterator=SerialIterator(dataset=<ndarray of shape (4, 3)>, batch_size=2, '
        'repeat=False, shuffle=False), target=<MLP>)',
    ),
    (Shout('hey'), "Shout(word='hey')"),
    (Shout('hey' * 99, 4, 5, times=2), None),
    (Shout(chainer.Variable(X)), 'Shout(word=<Variable of shape (4, 3)>)'),
    (Shout(chainer.Parameter()), 'Shout(word=<Parameter>)'),
    (Shout((1,)), 'Shout(word=(1,))'),
    (Shout(np.tanh), 'Shout(word=<ufunc>)'),
    (Shout(MLP), 'Shout(word=MLP)'),
    (_trainer().updater, _UPDATER),
    (
        _trainer(),
        f"Trainer(updater={_UPDATER}, stop_trigger=IntervalTrigger(period=2, unit='epoch'), "
        'extensions=<OrderedDict of length 0>)',
    ),
    (optimizer_hooks.WeightDecay(0.1), 'WeightDecay(rate=0.1)'),
    (optimizer_hooks.GradientClipping(2), 'GradientClipping(threshold=2)'),
    (chainer.function_hooks.TimerHook(), 'TimerHook()'),
    (chainer.link_hooks.TimerHook(), 'TimerHook()'),
    (chainer.compile(MLP()), '<compiled MLP: 0 calls, 0 of them by a plan>'),
]


@pytest.mark.parametrize('obj, text', TEXTS, ids=lambda x: type(x).__name__)
def test_text(obj, text):
    assert ' at 0x' not in repr(obj)
    assert len(repr(obj)) < 400
    assert '\n' not in repr(obj)
    if text is not None:
        assert repr(obj) == text


@pytest.mark.parametrize('obj', [obj for obj, _ in TEXTS], ids=lambda x: type(x).__name__)
def test_objects_that_are_not_initialized(obj):
    """Debuggers show objects in the midst of constructors and of unpickling."""
    new = type(obj).__new__(type(obj))
    if not isinstance(obj, type(chainer.compile(MLP()))):
        assert type(obj).__name__.lstrip('_') in repr(new)


def test_circle():
    shout = Shout('hey')
    shout._word = [shout]
    assert repr(shout) == 'Shout(word=[...])'


def test_texts_of_users_come_first():
    class Own(Shout):
        def __repr__(self):
            return 'own'

    assert repr(Own('hey')) == 'own'
    assert repr(pickle.loads(pickle.dumps(Shout('hey')))) == "Shout(word='hey')"


def test_compiled_functions():
    @chainer.compile
    def double(x):
        return x * 2

    double(chainer.Variable(X))
    assert repr(double) == (
        '<compiled test_compiled_functions.<locals>.double: 1 calls, 0 of them by a plan>'
    )


@pytest.mark.parametrize('link', [MLP(), chainer.Sequential(L.Linear(3, 2)), L.Linear(3, 2)])
def test_links(link):
    """Their texts have a line for each layer."""
    assert repr(link) == str(link)
    assert 'Linear(in_size=3, out_size=2, nobias=False)' in repr(link)
    new = type(link).__new__(type(link))
    assert repr(new) in (f'{type(link).__name__}(...)', f'{type(link).__name__}()')


class Half(chainer.Link):
    def __init__(self):
        super().__init__()
        self.text = repr(self)

    @property
    def printable_specs(self):
        yield 'size', self.size


def test_link_in_the_midst_of_its_constructor():
    assert Half().text == 'Half(...)'
