"""Data of NumPy and Python that become constants of plans, and what happens when they change."""

import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx

pytestmark = pytest.mark.chainerx

MASK = np.array([0, 2, 2], 'f')
NUMBERS = [1.0, 2.0, 3.0]


class Own:
    def __init__(self):
        self.weights = np.array([1, 2, 3], 'f')
        self.indices = np.array([2, 0, 1])


OWN = Own()


def a_mask(x):
    return F.dropout(x, mask=chainerx.array(MASK)).array


def a_list(x):
    return x * chainerx.array(NUMBERS, 'float32')


def a_list_of_the_function(x):
    return x * chainerx.array([len(x), 2, NUMBERS[0]], 'float32')


def an_attribute(x):
    return x * chainerx.array(OWN.weights)


def indices(x):
    return x[OWN.indices] + x[[2, 1, 0]]


def made_by_numpy(x):
    return x * chainerx.array(np.arange(3).astype('f') + np.ones(3, 'f') * OWN.weights[0])


def padded(x):
    return chainerx.pad(x, 2, mode='reflect')


FUNCTIONS = a_mask, a_list, a_list_of_the_function, an_attribute, indices, made_by_numpy, padded


@pytest.mark.parametrize('function', FUNCTIONS, ids=lambda f: f.__name__)
def test_constants(function):
    compiled = chainer.compile(function)

    def run(calls):
        for i in range(calls):
            x = array([1, 2 + i, 3], 'f')
            with chainer.no_backprop_mode():
                np.testing.assert_array_equal(*map(chainerx.to_numpy, (compiled(x), function(x))))

    saved = MASK.copy(), list(NUMBERS), OWN.weights.copy(), OWN.indices.copy()
    try:
        run(5)
        assert compiled.replays == 3, compiled.report()
        replays = compiled.replays
        MASK[1] = 5
        NUMBERS[0] = 7.0
        OWN.weights[0] = 4
        OWN.indices[:] = [1, 1, 0]
        run(1)
        assert compiled.replays == replays + (function is padded)
        run(3)
        OWN.weights = OWN.weights.astype('d').astype('f')
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)  # of NumPy 2.5
            OWN.indices.shape = 1, 3
        if function is not indices:
            run(3)
        assert compiled.replays > replays
    finally:
        MASK[:], NUMBERS[:], OWN.weights, OWN.indices = saved


def test_memory_that_is_shared():
    """A plan has a copy of the data, so that it does not see later changes."""
    held = []

    def function(x):
        data = np.ones(3, 'f') * len(x)
        y = x * chainerx.array(data, copy=False)
        held.append  # noqa: B018
        return y

    compiled = chainer.compile(function)
    for _ in range(4):
        np.testing.assert_array_equal(chainerx.to_numpy(compiled(array([1, 2, 3], 'f'))), [3, 6, 9])
    assert compiled.replays == 2


def test_a_graph_break_that_was_passed_over():
    """What one object need not tell is still a graph break to another one that uses it."""
    view = np.arange(6.0, dtype='f')[::2]

    class Holder:
        unused = view

        def __init__(self):
            self.factor = 2

    class Model(chainer.Chain):
        def __init__(self):
            super().__init__()
            self.holder = Holder()

        def forward(self, x):
            return chainer.as_variable(x * chainerx.array(view) * self.holder.factor)

    model = Model()

    @chainer.compile
    def function(x):
        with chainer.no_backprop_mode():
            return model(x).array

    for i in range(6):
        view[1] = i
        y = chainerx.to_numpy(function(array([1, 1, 1], 'f')))
        np.testing.assert_array_equal(y, [0, 2 * i, 8])
    assert 'view is an array of NumPy' in function.report()


@pytest.mark.parametrize('dropout', [0.0, 0.5])
@pytest.mark.parametrize('name', ['NStepBiLSTM', 'NStepGRU', 'NStepRNNTanh'])
def test_n_step_links(name, dropout):
    class Program:
        def __init__(self):
            self.model = getattr(L, name)(2, 4, 5, dropout).to_device(DEVICE)
            self.optimizer = chainer.optimizers.SGD(0.1).setup(self.model)

        def step(self, xs):
            initial = (None, None) if 'LSTM' in name else (None,)
            ys = self.model(*initial, xs)[-1]
            self.model.cleargrads()
            loss = F.sum(F.concat(ys, 0) ** 2)
            loss.backward()
            self.optimizer.update()
            return loss

        def state(self):
            return {n: chainerx.to_numpy(p.array).tobytes() for n, p in self.model.namedparams()}

    pair = Pair(Program)
    for i in range(12):
        lengths = (3, 2, 1) if i % 4 else (4, 4, 2)
        rng = np.random.RandomState(i)
        pair.run([array(rng.rand(n, 4), 'f') for n in lengths])
    assert pair.function.replays >= 7, pair.function.report()


def test_dtypes():
    """That the classes of NumPy's dtypes have a metaclass in C does not matter."""
    compiled = chainer.compile(lambda x: x * (1 + isinstance(x.dtype, np.dtype)))
    for i in range(4):
        assert (compiled(array([i], 'f')) == i * 2).all()
    assert compiled.replays == 2, compiled.report()
