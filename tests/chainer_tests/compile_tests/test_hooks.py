"""Hooks of optimizers in plans, compared with eager updates bit by bit."""

import copy
import itertools

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers
from chainer.compilation._effects.eager_update import EagerUpdate
from chainer.compilation._effects.planned_update import PlannedUpdate

pytestmark = pytest.mark.chainerx


class Training:
    def __init__(self, optimizer, dtype='f', loss_scale=None):
        with chainer.using_config('dtype', np.dtype(dtype)):
            self.model = chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2))
        self.model.to_device(DEVICE)
        self.optimizer = optimizer().setup(self.model)
        if loss_scale is not None:
            self.optimizer.set_loss_scale(loss_scale)

    def loss(self, x):
        return F.sum(self.model(x) ** 2)

    def step(self, x):
        self.optimizer.update(self.loss, x)

    def state(self):
        scales = [param._loss_scale for param in self.model.params()]
        scaling = [self.optimizer._loss_scale, self.optimizer._loss_scaling_isnan_ever]
        return state_of(self.model, self.optimizer) | {'scales': scales, 'scaling': scaling}

    @property
    def rules(self):
        return [param.update_rule for _, param in sorted(self.model.namedparams())]


def batch(seed, dtype='f'):
    return array(np.random.RandomState(seed).rand(5, 3), dtype)


def updates(pair):
    found = pair.function._plans.in_order[0].effects
    return [effect for effect in found if isinstance(effect, (EagerUpdate, PlannedUpdate))]


def is_planned(pair):
    return [type(update) for update in updates(pair)] == [PlannedUpdate]


def change(pair, function):
    for program in pair.programs:
        function(program)


# Hooks of this package, whether they run between the kernels of an update, and an attribute with other values.
HOOKS = {
    'WeightDecay': (lambda: hooks.WeightDecay(0.1), 0, 'rate', [0.3, 1, -0.5]),
    'Lasso': (lambda: hooks.Lasso(0.1), 0, 'rate', [0.3, 0, 2.0]),
    'hard clipping': (lambda: hooks.GradientHardClipping(-0.1, 0.1), 0, 'upper_bound', [0.2, 1]),
    'LARS': (lambda: hooks.GradientLARS(0.01, 0.1), 0, 'weight_decay', [0.0, 0.5]),
    'LARS, threshold': (lambda: hooks.GradientLARS(0.01), 0, 'threshold', [1e9, 0.0]),
    'clipping': (lambda: hooks.GradientClipping(0.1), 1, 'threshold', [1e9, 0.2, 0]),
    'noise': (lambda: hooks.GradientNoise(0.1), 1, 'eta', [0.0, 0.5]),
}
OPTIMIZERS = {
    'SGD': optimizers.SGD,
    'MomentumSGD': optimizers.MomentumSGD,
    'Adam': optimizers.Adam,
    'AdamW': optimizers.AdamW,
    'AMSGrad': optimizers.AMSGrad,
    'RMSprop': optimizers.RMSprop,
    'AdaDelta': optimizers.AdaDelta,
    'NesterovAG': optimizers.NesterovAG,
}


@pytest.mark.parametrize('timing', ['pre', 'post'])
@pytest.mark.parametrize(
    ('optimizer', 'dtype'),
    [*[(name, 'f') for name in OPTIMIZERS], ('MomentumSGD', 'e'), ('Adam', 'd')],
)
@pytest.mark.parametrize('name', HOOKS)
def test_hooks(name, optimizer, timing, dtype):
    make, interruptions, attribute, values = HOOKS[name]
    pair = Pair(lambda: Training(OPTIMIZERS[optimizer], dtype))
    change(pair, lambda p: p.optimizer.add_hook(make(), 'hook', timing))
    for i in range(6):
        pair.run(batch(i, dtype))
    assert pair.function.replays >= 3, pair.function.report()
    assert is_planned(pair)
    assert updates(pair)[0].interruptions == interruptions
    for value in values:
        for program in pair.programs:
            name = f'_{timing}_update_hooks'
            setattr(getattr(program.optimizer, name)['hook'], attribute, value)
        for i in range(3):
            pair.run(batch(i, dtype))
        assert is_planned(pair)
    change(pair, lambda p: p.optimizer.remove_hook('hook'))
    pair.settle(batch(8, dtype))


def test_summary_tells_what_runs_eagerly():
    pair = Pair(lambda: Training(optimizers.Adam))
    change(pair, lambda p: p.optimizer.add_hook(hooks.GradientClipping(0.1)))
    pair.settle(batch(0))
    summary = pair.function.summary()
    assert 'kernels in 2 parts' in summary
    assert summary.endswith('eager: Python reads or draws numbers in GradientClipping')
    change(pair, lambda p: p.optimizer.add_hook(scale, 'own'))
    pair.settle(batch(0))
    assert pair.function.summary().split('\n\n')[0].splitlines()[-1] == (
        'eager: Adam updates eagerly, as the hook scale is not one of chainer.optimizer_hooks'
    )


@pytest.mark.parametrize(
    'names',
    list(itertools.permutations(['WeightDecay', 'clipping', 'hard clipping', 'noise'], 3)),
    ids='-'.join,
)
def test_several_hooks(names):
    pair = Pair(lambda: Training(optimizers.Adam))
    for name in names:
        change(pair, lambda p, name=name: p.optimizer.add_hook(HOOKS[name][0](), name))
    pair.settle(batch(0))
    change(pair, lambda p: p.optimizer.add_hook(hooks.Lasso(0.1), timing='post'))
    for i in range(8):
        pair.run(batch(i))
    assert is_planned(pair)

    def rotate(program):
        found = program.optimizer._pre_update_hooks
        hook = found[names[0]]
        program.optimizer.remove_hook(names[0])
        program.optimizer.add_hook(hook, names[0])

    change(pair, rotate)
    assert not pair.run(batch(1))
    pair.settle(batch(2))
    change(pair, lambda p: p.optimizer._pre_update_hooks.move_to_end(names[1]))
    assert not pair.run(batch(3))
    pair.settle(batch(4))


@pytest.mark.parametrize('loss_scale', [None, 64.0])
@pytest.mark.parametrize('timing', ['pre', 'post'])
@pytest.mark.parametrize('name', [name for name in HOOKS if name != 'clipping'])  # of optimizers
def test_hooks_of_update_rules(name, timing, loss_scale):
    make, interruptions, attribute, values = HOOKS[name]
    pair = Pair(lambda: Training(optimizers.Adam, loss_scale=loss_scale))
    change(pair, lambda p: p.rules[1].add_hook(make(), 'hook', timing))
    for i in range(6):
        pair.run(batch(i))
    assert pair.function.replays >= 3, pair.function.report()
    assert is_planned(pair) == (interruptions == 0)
    for value in values:
        for program in pair.programs:
            found = getattr(program.rules[1], f'_{timing}_update_hooks')
            setattr(found['hook'], attribute, value)
        for i in range(4):
            pair.run(batch(i))
    change(pair, lambda p: p.rules[1].add_hook(hooks.Lasso(0.2)))
    pair.settle(batch(0))
    change(pair, lambda p: p.rules[1].remove_hook('hook'))
    pair.settle(batch(1))
    assert is_planned(pair) == (interruptions == 0)  # nothing watches what eager updates do


def _replace_method(hook):
    hook._term = lambda array: array * 2


def _call_once(hook):
    hook.call_for_each_param = False


# What a program does to a hook of WeightDecay, and whether an update by kernels is right afterwards.
CHANGES_OF_A_HOOK = {
    'rate': (lambda hook: setattr(hook, 'rate', 0.5), True),
    'an array': (lambda hook: setattr(hook, 'rate', array(np.array(0.5, 'f'))), True),
    'a number of NumPy': (lambda hook: setattr(hook, 'rate', np.float32(0.1)), True),
    'a text': (lambda hook: setattr(hook, 'rate', 'x'), None),
    'no rate': (lambda hook: vars(hook).clear(), None),
    'infinity': (lambda hook: setattr(hook, 'rate', float('inf')), True),
    'a method': (_replace_method, False),
    'the way of calls': (_call_once, None),
    'a class': (lambda hook: setattr(hook, '__class__', hooks.Lasso), True),
    'another attribute': (lambda hook: setattr(hook, 'own', 3), False),
    'its timing': (lambda hook: setattr(hook, 'timing', 'post'), False),
}


@pytest.mark.parametrize('name', CHANGES_OF_A_HOOK)
def test_changes_of_a_hook(name):
    function, planned = CHANGES_OF_A_HOOK[name]
    pair = Pair(lambda: Training(optimizers.MomentumSGD))
    change(pair, lambda p: p.optimizer.add_hook(hooks.WeightDecay(0.1), 'hook'))
    pair.settle(batch(0))
    change(pair, lambda p: function(p.optimizer._pre_update_hooks['hook']))
    for i in range(6):
        pair.run(batch(i))
    if planned is not None:
        assert is_planned(pair) == planned
        assert pair.run(batch(0))


def test_a_class_of_hooks_changes(monkeypatch):
    pair = Pair(lambda: Training(optimizers.MomentumSGD))
    change(pair, lambda p: p.optimizer.add_hook(hooks.WeightDecay(0.1), 'hook'))
    pair.settle(batch(0))
    monkeypatch.setattr(hooks.WeightDecay, '_term', lambda self, array: array * 2)
    for i in range(6):
        pair.run(batch(i))
    assert [type(update) for update in updates(pair)] == [EagerUpdate]


class Own:
    """A hook of the program that does what no kernel of a plan could know."""

    name = 'own'
    call_for_each_param = True

    def __init__(self):
        self.calls = 0

    def __call__(self, rule, param):
        self.calls += 1
        param.grad = param.grad * self.calls


class OwnDecay(hooks.WeightDecay):
    def _term(self, p):
        return p * 2


@pytest.mark.parametrize('loss_scale', [None, 16.0])
@pytest.mark.parametrize('make', [Own, lambda: OwnDecay(0.1)], ids=['own', 'derived'])
def test_hooks_of_the_program_run_eagerly(make, loss_scale):
    pair = Pair(lambda: Training(optimizers.Adam, loss_scale=loss_scale))
    change(pair, lambda p: p.optimizer.add_hook(make(), 'own'))
    for i in range(8):
        pair.run(batch(i))
    assert pair.function.replays >= 5
    assert [type(update) for update in updates(pair)] == [EagerUpdate]


class Noisy(Training):
    def step(self, x):
        noise = chainerx.array(np.random.normal(size=3).astype('f'), device=DEVICE)
        super().step(x + noise)


def warm_up(opt):
    opt.lr = 0.1 * min(1, opt.t / 5)


def warm_up_rule(rule, param):
    rule.hyperparam.lr = 0.1 * min(1, rule.t / 5)


class WarmUp(optimizers.sgd.SGDRule):
    def update_core(self, param):
        warm_up_rule(self, param)
        super().update_core(param)


class OwnSGD(optimizers.SGD):
    def create_update_rule(self):
        return WarmUp(self.hyperparam)


@pytest.mark.parametrize('program', [Training, Noisy])
@pytest.mark.parametrize(
    ('optimizer', 'add'),
    [
        (optimizers.SGD, lambda p: p.optimizer.add_hook(warm_up, 'own')),
        (optimizers.SGD, lambda p: p.rules[0].add_hook(warm_up_rule, 'own')),
        (OwnSGD, lambda p: None),
    ],
    ids=['hook', 'hook of a rule', 'rule'],
)
def test_python_in_an_update_reads_what_updates_change(optimizer, add, program):
    pair = Pair(lambda: program(optimizer))
    change(pair, add)
    for i in range(8):
        pair.run(batch(i))
    assert pair.function.replays >= 4, pair.function.report()
    assert not is_planned(pair)


FACTOR = [0.5]


def scale(opt):
    for param in opt.target.params():
        param.grad = param.grad * FACTOR[0]


class CallsHooks(Training):
    def step(self, x):
        self.model.cleargrads()
        self.loss(x).backward()
        self.optimizer.call_hooks()
        return [param.grad_var.array for param in self.model.params()]


def test_hooks_that_the_program_calls():
    """They are not a part of an update, which would run them itself."""
    pair = Pair(lambda: CallsHooks(optimizers.SGD))
    change(pair, lambda p: p.optimizer.add_hook(scale, 'own'))
    for i in range(6):
        FACTOR[0] = i // 2
        assert not pair.run(batch(i))
    assert 'scale cannot be found before it is called' in pair.function.report()


@pytest.mark.parametrize('timing', ['pre', 'post'])
@pytest.mark.parametrize('fails_at', [2, 6])
def test_hooks_that_raise(fails_at, timing):
    class Failing:
        def __init__(self):
            self.calls = 0

        def __call__(self, optimizer):
            self.calls += 1
            if self.calls == fails_at:
                raise ValueError('it fails')

    pair = Pair(lambda: Training(optimizers.Adam, loss_scale=4.0))
    change(pair, lambda p: p.optimizer.add_hook(hooks.WeightDecay(0.1)))
    change(pair, lambda p: p.optimizer.add_hook(Failing(), 'failing', timing))
    outcomes = []
    for i in range(9):
        pair.run(batch(i))
        outcomes.append(pair.outcome[0])
    assert outcomes.count(ValueError) == 1
    assert pair.function.replays >= 4


@pytest.mark.parametrize('threshold', ['x', None, -1.0, float('nan'), float('inf')])
def test_clipping_by_odd_thresholds(threshold):
    pair = Pair(lambda: Training(optimizers.Adam))
    change(pair, lambda p: p.optimizer.add_hook(hooks.GradientClipping(0.1), 'clip'))
    pair.settle(batch(0))
    change(pair, lambda p: setattr(p.optimizer._pre_update_hooks['clip'], 'threshold', threshold))
    for i in range(4):
        pair.run(batch(i))


def test_noise_of_the_program():
    def noise(xp, shape, dtype, hook, rule):
        return xp.full(shape, hook.eta, dtype)

    pair = Pair(lambda: Training(optimizers.Adam))
    change(pair, lambda p: p.optimizer.add_hook(hooks.GradientNoise(0.1, noise)))
    pair.settle(batch(0))
    assert [type(update) for update in updates(pair)] == [EagerUpdate]


@pytest.mark.parametrize('name', HOOKS)
def test_check(name):
    pair = Pair(lambda: Training(optimizers.Adam), check=True)
    change(pair, lambda p: p.optimizer.add_hook(HOOKS[name][0]()))
    for i in range(7):
        pair.run(batch(i))
    assert pair.function.replays >= 4


def test_gradients_of_before():
    class Update(Training):
        def step(self, x):
            self.optimizer.update()
            return x * 2

    pair = Pair(lambda: Update(optimizers.MomentumSGD))
    for name in 'WeightDecay', 'clipping', 'LARS':
        change(pair, lambda p, name=name: p.optimizer.add_hook(HOOKS[name][0]()))
    for i in range(8):
        for program in pair.programs:
            for param in program.model.params():
                param.grad = array(np.full(param.shape, i + 1), 'f')
        pair.run(batch(i))
    assert pair.function.replays >= 5, pair.function.report()


def test_a_rule_of_two_parameters():
    def make():
        training = Training(optimizers.SGD)
        first, second = itertools.islice(training.model.params(), 2)
        second.update_rule = first.update_rule
        first.update_rule.add_hook(hooks.WeightDecay(0.1))
        return training

    pair = Pair(make)
    for i in range(6):
        pair.run(batch(i))
    assert [type(update) for update in updates(pair)] == [EagerUpdate]


def test_copies_of_optimizers():
    pair = Pair(lambda: Training(optimizers.Adam, loss_scale=4.0))
    change(pair, lambda p: p.optimizer.add_hook(hooks.WeightDecay(0.1)))
    pair.settle(batch(0))

    def copied(program):
        hook = copy.copy(program.optimizer._pre_update_hooks['WeightDecay'])
        program.optimizer.remove_hook('WeightDecay')
        hook.rate = 0.5
        program.optimizer.add_hook(hook)

    change(pair, copied)
    assert not pair.run(batch(1))
    pair.settle(batch(2))
