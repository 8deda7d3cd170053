"""Programs that change random things between calls: compiled and usual ones stay equal."""

import copy
import random

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks as hooks, optimizers

pytestmark = pytest.mark.chainerx

SCALE = 1.0
SETTINGS = {'power': 1, 'names': ['a']}


def scaled(h, factor=1.0, *, shift=0.0):
    return h * (factor * SCALE) + shift


ORIGINAL = scaled


def other_scaled(h, factor=1.0, *, shift=0.0):
    return h * (factor + SCALE) - shift


class Activation:
    slope = 0.1

    def __init__(self):
        self.bias = 0.5
        self.table = {'k': 1.0}

    def __call__(self, h):
        return F.leaky_relu(h + self.bias * self.table['k'], self.slope)


def clipped(h):
    return F.clip(h, -1.0, 1.0)


class Model(chainer.Chain):
    depth = 1

    def __init__(self, kind):
        super().__init__()
        self.ratio = 0.5
        self.sizes = [6]
        self.activation = Activation()
        self.extra = None
        with self.init_scope():
            self.l1 = L.Linear(4, 6)
            self.bn = L.BatchNormalization(6)
            self.rnn = L.LSTM(6, 6) if kind else None
            self.l2 = L.Linear(6, 3)
            self.scale = chainer.Parameter(1, (6,))

    def forward(self, x):
        h = self.bn(self.l1(x))
        for _ in range(self.depth):
            h = self.activation(h)
        if self.rnn is not None:
            h = self.rnn(h)
        if self.extra is not None:
            h = h + self.extra
        h = scaled(h, shift=len(self.sizes)) * self.scale
        for _ in range(SETTINGS['power']):
            h = F.dropout(h, self.ratio)
        return self.l2(h)


class Program:
    def __init__(self, kind):
        self.model = Model(kind)
        self.model.to_device(DEVICE)
        self.optimizer = optimizers.Adam().setup(self.model)
        self.weight = 1.0
        self.freeze = False
        closure = [2.0]
        self.closure = closure
        model, program = self.model, self

        def step(x, t, *, scale=1.0):
            if not chainer.config.train:
                with chainer.no_backprop_mode():
                    return program.model(x).array
            loss = F.softmax_cross_entropy(program.model(x), t) * (program.weight * scale)
            loss = loss * closure[0]
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()
            if not program.freeze:
                program.optimizer.update()
            return {'loss': loss, 'n': len(closure)}

        self.step = step

    def state(self):
        return state_of(self.model, self.optimizer)


def batch(rng, n):
    return array(rng.rand(n, 4), 'f'), array(rng.randint(0, 3, n), 'i')


def _set(path, values):
    def change(program, choice):
        owner = program
        *parts, name = path.split('.')
        for part in parts:
            owner = getattr(owner, part)
        setattr(owner, name, values[choice % len(values)])

    return change


def _global(name, values):
    def change(program, choice):
        globals()[name] = values[choice % len(values)]

    return change


def _setting(program, choice):
    SETTINGS['power'] = choice % 3


def _table(program, choice):
    program.model.activation.table['k'] = (1.0, 2.0)[choice % 2]


def _sizes(program, choice):
    program.model.sizes[:] = [6] * (1 + choice % 3)


def _closure(program, choice):
    program.closure[0] = (2.0, 3.0)[choice % 2]


def _longer_closure(program, choice):
    program.closure[1:] = [0] * (choice % 2)


def _class_attribute(program, choice):
    Model.depth = 1 + choice % 2
    Activation.slope = (0.1, 0.3)[choice % 2]


def _defaults(program, choice):
    ORIGINAL.__defaults__ = ((1.0,), (1.5,))[choice % 2]
    ORIGINAL.__kwdefaults__['shift'] = (0.0, 0.5)[choice % 2]


def _hook(program, choice):
    optimizer = program.optimizer
    for name in list(optimizer._pre_update_hooks):
        optimizer.remove_hook(name)
    hook = (None, hooks.WeightDecay(0.1), hooks.GradientClipping(0.1), hooks.Lasso(0.01))[
        choice % 4
    ]
    if hook is not None:
        optimizer.add_hook(hook)


def _swap(program, choice):
    param = program.model.l1.W
    param.array = param.array.copy()


def _write(program, choice):
    program.model.l2.W.array[...] = (choice % 3) * 0.1


def _clear(program, choice):
    if program.model.rnn is not None:
        program.model.rnn.reset_state()


def _grads(program, choice):
    if choice % 2:
        program.model.cleargrads()
    else:
        program.model.zerograds()


def _extra(program, choice):
    values = None, array(np.ones(6), 'f'), array(np.full(6, 2), 'f'), array(np.ones((1, 6)), 'f')
    program.model.extra = values[choice % 4]


def _write_extra(program, choice):
    if program.model.extra is not None:
        program.model.extra[...] = choice % 5


def _update(program, choice):
    (program.model.l1.enable_update, program.model.l1.disable_update)[choice % 2]()


def _child(program, choice):
    np.random.seed(choice)
    del program.model.l2
    with program.model.init_scope():
        program.model.l2 = L.Linear(6, 3, nobias=bool(choice % 2))
    program.model.l2.to_device(DEVICE)
    program.optimizer.setup(program.model)


def _device(program, choice):
    program.model.to_device('@numpy')
    program.model.to_device(DEVICE)


def _copy(program, choice):
    program.model.l1.W._array  # noqa: B018 - a copy shares it
    program.copied = program.model.copy()


CHANGES = [
    _set('weight', [1.0, 0.5, 2]),
    _set('freeze', [False, True]),
    _set('optimizer.alpha', [0.001, 0.1, 0.01]),
    _set('optimizer.hyperparam.eps', [1e-8, 1e-2]),
    _set('model.ratio', [0.5, 0.2]),
    _set('model.bn.eps', [2e-5, 1e-2]),
    _set('model.bn.decay', [0.9, 0.5]),
    _set('model.activation', [Activation(), F.relu, F.tanh, clipped]),
    _set('model.depth', [1, 2]),
    _global('SCALE', [1.0, 1, 0.5, True]),
    _global('scaled', [scaled, other_scaled]),
    _setting, _sizes, _closure, _longer_closure, _class_attribute, _defaults, _hook, _swap,
    _write, _clear, _grads, _extra, _write_extra, _update, _child, _device, _copy,
]  # fmt: skip


@pytest.fixture(autouse=True)
def restored():
    values = {name: copy.deepcopy(globals()[name]) for name in ('SCALE', 'SETTINGS')}
    yield
    globals().update(values)
    globals()['scaled'] = ORIGINAL
    Model.depth, Activation.slope = 1, 0.1
    ORIGINAL.__defaults__, ORIGINAL.__kwdefaults__ = (1.0,), {'shift': 0.0}


def fuzz(seed, steps):
    """Runs a program with random changes; returns how many steps ran a plan."""
    choose = random.Random(seed)
    draw = np.random.RandomState(seed)
    pair = Pair(lambda: Program(seed % 2))
    for i in range(steps):
        if choose.random() < 0.35:
            change, choice = choose.choice(CHANGES), choose.randrange(12)
            for program in pair.programs:
                try:
                    np.random.seed(i)
                    change(program, choice)
                except AttributeError:  # the part is not there now
                    continue
        # An LSTM keeps the size of its batch.
        x, t = batch(draw, 3 if seed % 2 else choose.choice([2, 3, 3, 3]))
        scale = choose.choice([1.0, 1.0, 1.0, 1, 2.0])
        train = choose.random() < 0.85
        with chainer.using_config('train', train):
            if choose.random() < 0.05:
                x, t = x[:, ::-1], t
            if choose.random() < 0.03:
                t = t[:1]  # an error
            pair.run(x, t, scale=scale)
        pair.function._budget.wait = 0  # so much changes that few recordings are of use
    return pair.function


def test_few_plans_are_made_in_vain():
    """Values that never come again end recordings soon, and then searches, for a while."""
    function, x = chainer.compile(lambda x, n: x * n), array(np.ones(3), 'f')
    for i in range(300):
        function(x, i)
    assert function.recordings < 16
    for _ in range(600):
        function(x, 3)
    assert function.replays > 300
    recordings = function.recordings
    for i in range(6):
        function(array(np.ones((2, i % 2)), 'f'), 3)
    assert function.recordings == recordings + 2


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('seed', range(6))
def test_random_changes(seed):
    function = fuzz(seed, 60)
    assert function.replays > 3, function.report()


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('number', range(len(CHANGES)))
def test_each_change(number):
    change = CHANGES[number]
    for kind in 0, 1:
        draw = np.random.RandomState(0)
        pair = Pair(lambda kind=kind: Program(kind))
        for choice in range(5):
            for _ in range(5):
                pair.run(*batch(draw, 3))
            for program in pair.programs:
                np.random.seed(0)
                change(program, choice)
        pair.run(*batch(draw, 3))
        assert pair.function.replays > 0
