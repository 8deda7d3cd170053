"""States that a plan leaves without the graph of its call, and calls that go on from them."""

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx

pytestmark = pytest.mark.chainerx
MESSAGE = 'backward reaches an array that a plan of chainer.compile has left in an attribute'


class Own(chainer.Chain):
    """A link of a program that keeps a state, as a variable or as an array."""

    def __init__(self, keeps):
        super().__init__()
        self.keeps = keeps
        with self.init_scope():
            self.fc = L.Linear(3, 3)
        self.reset_state()

    def reset_state(self):
        self.h = None

    def forward(self, x):
        h = self.fc(x)
        if self.h is not None:
            h = F.tanh(h + self.h)
        self.h = h if self.keeps == 'variable' else h.chx_array
        return h


#: Links and what the reason names: of several states, it may be any.
LINKS = {
    'LSTM': (lambda: L.LSTM(3, 3), 'of LSTM'),
    'GRU': (lambda: L.StatefulGRU(3, 3), 'of StatefulGRU'),
    'variable': (lambda: Own('variable'), 'h of Own'),
    'array': (lambda: Own('array'), 'h of Own'),
}


class Recurrent:
    """A step that goes back through the graph of the calls since the last reset."""

    def __init__(self, link):
        self.model = link()
        self.model.to_device(DEVICE)

    def step(self, x):
        loss = F.sum(F.sin(self.model(x)))
        self.model.cleargrads()
        loss.backward()
        return loss.array

    def state(self):
        return state_of(self.model)


def _input(i):
    return array([[1, 2, i]], 'f')


def _pair_with_plan(link):
    """Returns programs of which a plan ran at the last call, each call after a reset."""
    pair = Pair(lambda: Recurrent(link))
    for i in range(6):
        _reset(pair)
        pair.run(_input(i))
    assert pair.function.replays >= 2, pair.function.report()
    return pair


def _reset(pair):
    for program in pair.programs:
        program.model.reset_state()


@pytest.mark.parametrize('name', LINKS)
def test_calls_without_the_reset_of_those_before(name):
    link, reason = LINKS[name]
    pair = _pair_with_plan(link)
    pair.usual.step(_input(7))
    with pytest.raises(chainerx.GradientError, match=MESSAGE):
        pair.function(_input(7))
    # From then on, no plan leaves this state.
    before = pair.function.replays
    for i in range(16):
        if i % 2 == 0:
            _reset(pair)
        pair.run(_input(i))
    assert pair.function.replays == before
    assert f'{reason} belongs to a graph' in pair.function.report()


def test_calls_that_go_on_first():
    """A call that went on in the graph of the one before shows that others may."""
    pair = Pair(lambda: Recurrent(LINKS['LSTM'][0]))
    for i in range(64):
        if i % 2 == 0:
            _reset(pair)
        pair.run(_input(i))
    assert 'of LSTM belongs to a graph' in pair.function.report()


def test_eager_calls():
    pair = _pair_with_plan(LINKS['LSTM'][0])
    with pytest.raises(chainerx.GradientError, match=MESSAGE):
        pair.compiled.step(_input(7))
    with pytest.raises(chainerx.GradientError, match=MESSAGE):
        F.sum(pair.compiled.model.h).backward()
    with pytest.raises(chainerx.GradientError, match=MESSAGE):
        chainer.grad([F.sum(pair.compiled.model.h)], [pair.compiled.model.upward.W])


def test_gradients_that_do_not_need_the_graph():
    """They are those of the eager program: of an array of the call itself."""
    gradients = []
    pair = _pair_with_plan(LINKS['LSTM'][0])
    for program in pair.programs:
        x = chainer.Variable(_input(7))
        gradients += chainer.grad([F.sum(program.model(x))], [x])
    assert (gradients[0].array == gradients[1].array).all()


@pytest.mark.parametrize('cut', ['unchain', 'unchain_backward', 'reset', 'set'])
def test_states_that_are_cut_off(cut):
    pair = _pair_with_plan(LINKS['LSTM'][0])
    for i in range(4):
        for program in pair.programs:
            h, c = program.model.h, program.model.c
            if cut == 'reset':
                program.model.reset_state()
            elif cut == 'set':
                program.model.set_state(chainer.Variable(c.array), chainer.Variable(h.array))
            else:
                getattr(h, cut)()
                getattr(c, cut)()
        pair.run(_input(i))


class Classifying:
    """A step of ``L.Classifier``, which leaves its scores and its loss in attributes."""

    def __init__(self):
        self.model = L.Classifier(L.Linear(3, 2))
        self.model.to_device(DEVICE)
        self.optimizer = chainer.optimizers.SGD().setup(self.model)

    def step(self, x, t):
        self.optimizer.update(self.model, x, t)

    def state(self):
        return state_of(self.model, self.optimizer)


@pytest.mark.parametrize('forgets', [False, True])
def test_results_that_nobody_goes_back_through(forgets):
    """They cost no plan, whether or not the program forgets them between its calls."""
    pair = Pair(Classifying)
    t = array([1], 'i')
    for i in range(9):
        pair.run(_input(i), t)
        for program in pair.programs if forgets else ():
            program.model.y = program.model.loss = None
    assert pair.function.replays >= 5, pair.function.report()
    model = pair.compiled.model
    pair.run(_input(9), t)
    assert np.isfinite(chainerx.to_numpy(model.y.array)).all()
    with pytest.raises(chainerx.GradientError, match=MESSAGE):
        F.sum(model.y).backward()


class Constant:
    """A link whose scores lead to no parameter: to a variable of the call itself."""

    def __init__(self):
        self.model = chainer.Link()
        self.model.h = None

    def step(self, x):
        x = chainer.Variable(x)
        if self.model.h is None:
            self.model.h = x * x
        else:
            self.model.h = x * self.model.h
        F.sum(self.model.h).backward()
        return x.grad

    def state(self):
        return state_of(self.model)


def test_graphs_without_parameters():
    """No gradient is lost with them."""
    pair = Pair(Constant)
    for i in range(9):
        for program in pair.programs if i < 6 else ():
            program.model.h = None
        pair.run(_input(i))
    assert pair.function.replays >= 2


class Mask:
    """A step without backward that leaves a state which needs a gradient, and reads it."""

    def __init__(self, keeps):
        self.model = Own(keeps)
        self.model.to_device(DEVICE)
        self.keep(array(np.ones((2, 3), 'f')))

    def keep(self, h):
        # ChainerX marks the array, although the variable says that it needs no gradient.
        h = chainer.Variable(h)
        self.model.h = h if self.model.keeps == 'variable' else h.chx_array

    def step(self, x):
        with chainer.no_backprop_mode():
            h = chainer.as_variable(x) * 2 + self.model.h
            self.keep(h.array[:])
            return F.sum(x * h).array

    def state(self):
        return state_of(self.model)


@pytest.mark.parametrize('keeps', ['variable', 'array'])
def test_states_that_need_gradients(keeps):
    pair = Pair(lambda: Mask(keeps))
    for _ in range(6):
        ran = pair.run(array(np.ones((2, 3), 'f')))
        for program in pair.programs:
            h = program.model.h
            h = h.array if keeps == 'variable' else h
            with pytest.raises(chainerx.ChainerxError, match='belongs to a computational graph'):
                h *= 0
            h.cleargrad()
    assert ran, pair.function.report()
