"""Updates of float32 copies of parameters in plans, compared with eager ones bit by bit."""

import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks as hooks, optimizers
from chainer.compilation._effects.eager_update import EagerUpdate
from chainer.compilation._effects.planned_update import PlannedUpdate
from chainer.compilation._effects.scaled_update import ScaledUpdate

pytestmark = pytest.mark.chainerx

DTYPES = chainer.mixed16, 'mixed_bfloat16'
OPTIMIZERS = (
    'AdaDelta AdaGrad Adam AMSBound CorrectedMomentumSGD MomentumSGD MSVAG NesterovAG RMSprop '
    'RMSpropGraves SGD SMORMS3'
).split()


class Training:
    """A model with parameters of half precision and, in the normalization, of float32."""

    def __init__(self, dtype=chainer.mixed16, optimizer='Adam', units=4, **scaling):
        with chainer.using_config('dtype', dtype):
            norm = L.BatchNormalization(units)
            parts = L.Linear(3, units), norm, F.tanh, L.Linear(units, 2)
            self.model = chainer.Sequential(*parts).to_device(DEVICE)
            self.optimizer = getattr(optimizers, optimizer)().setup(self.model)
        if scaling:
            self.optimizer.loss_scaling(**scaling)

    @property
    def rule(self):
        return self.model[0].W.update_rule

    def loss(self, x):
        return F.sum(self.model(x.astype(self.model[0].W.dtype)) ** 2)

    def step(self, x):
        self.optimizer.update(self.loss, x)

    def state(self):
        return state_of(self.model, self.optimizer) | {'scale': self.optimizer._loss_scale}


def batch(seed):
    return array(np.random.RandomState(seed).rand(5, 3), 'f')


def run(pair, seeds, huge=()):
    """Runs calls, some of which overflow; returns how many ran a plan."""
    before = pair.function.replays
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for seed in seeds:
            pair.run(batch(seed) * (np.inf if seed in huge else 1))
    return pair.function.replays - before


def kinds(pair):
    found = map(type, pair.function._plans.in_order[0].effects)
    return [kind for kind in found if kind in (EagerUpdate, PlannedUpdate, ScaledUpdate)]


def change(pair, function):
    for program in pair.programs:
        function(program)


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_updates(optimizer, dtype):
    pair = Pair(lambda: Training(dtype, optimizer))
    assert run(pair, range(8)) == 6, pair.function.report()
    assert kinds(pair) == [PlannedUpdate]
    assert pair.compiled.rule._fp32_param.dtype == np.float32


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_updates_of_large_parameters(optimizer, dtype):
    """They stand between the casts of the gradient and of the parameter, tile by tile."""
    pair = Pair(lambda: Training(dtype, optimizer, units=20_000))
    assert run(pair, range(6)) == 4, pair.function.report()
    name = pair.compiled.rule._chainerx_name
    assert f'copy+{name}+copy' in pair.function.summary()


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('scaling', [{'interval': 3}, {'scale': 8.0}], ids=['dynamic', 'constant'])
def test_loss_scales(scaling, dtype):
    pair = Pair(lambda: Training(dtype, **scaling))
    huge = (9, 15) if 'interval' in scaling else ()
    assert run(pair, range(20), huge) == 18, pair.function.report()
    assert kinds(pair) == [ScaledUpdate if huge else PlannedUpdate]
    change(pair, lambda p: p.optimizer.set_loss_scale(2.0))
    run(pair, range(4))
    change(pair, lambda p: p.optimizer.set_loss_scale(64.0))
    assert run(pair, range(4)) == 4


@pytest.mark.parametrize('scaling', [{}, {'scale': 8.0}], ids=['unscaled', 'scaled'])
@pytest.mark.parametrize('timing', ['pre', 'post'])
def test_hooks_of_rules(timing, scaling):
    """They get the copy and its gradient."""
    pair = Pair(lambda: Training(**scaling))
    change(pair, lambda p: p.rule.add_hook(hooks.WeightDecay(0.1), timing=timing))
    change(pair, lambda p: p.optimizer.add_hook(hooks.WeightDecay(0.1)))
    assert run(pair, range(8)) == 6, pair.function.report()
    assert kinds(pair) == [PlannedUpdate]


def test_check():
    pair = Pair(lambda: Training('mixed_bfloat16', interval=3), check=True)
    assert run(pair, range(12), huge=[6, 9]) == 10


def _set_master(program):
    program.rule._fp32_param.array = program.rule._fp32_param.array + 1


def _cast_model(program):
    program.model[0].W.array = program.model[0].W.array.astype('float32')


def _renew(program):
    program.rule._fp32_param = program.rule._state = None


def _move(program):
    program.model.to_device('@numpy').to_device(DEVICE)


CHANGES = {
    'values of a copy': lambda p: p.rule._fp32_param.array.fill(0.5),
    'the array of a copy': _set_master,
    'no copy any more': lambda p: p.optimizer.use_fp32_update(False),
    'no copy of one parameter': lambda p: p.rule.use_fp32_update(False),
    'a new copy': _renew,
    'another dtype of a parameter': _cast_model,
    'values of a parameter': lambda p: p.model[0].W.array.fill(0.5),
    'a frozen parameter': lambda p: setattr(p.rule, 'enabled', False),
    'another device and back': _move,
    'setup': lambda p: p.optimizer.setup(p.model),
}


def test_a_copy_of_another_dtype():
    """The error is that of eager updates."""
    pair = Pair(Training)
    run(pair, range(4))
    for program in pair.programs:
        master = program.rule._fp32_param
        master.array = master.array.astype('float64')
    assert run(pair, range(4)) == 0
    assert pair.outcome[0] != 'result'


@pytest.mark.parametrize('name', CHANGES)
def test_changes(name):
    """No plan is stale, and another one follows."""
    pair = Pair(Training)
    run(pair, range(4))
    change(pair, CHANGES[name])
    assert run(pair, range(8)) >= 1, pair.function.report()


def test_saved_copies(tmp_path):
    pair = Pair(Training)
    run(pair, range(4))
    for i, program in enumerate(pair.programs):
        path = str(tmp_path / f'{i}.npz')
        with chainer.using_config('exact_resume', 'always'):
            chainer.serializers.save_npz(path, program.optimizer)
        program.step(batch(9))
        with chainer.using_config('exact_resume', 'always'):
            chainer.serializers.load_npz(path, program.optimizer)
    assert run(pair, range(6)) >= 1


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
def test_eager_updates_write_to_the_array(dtype):
    """As those without a copy, which plans rely on, and with the gradient left in place."""
    training = Training(dtype)
    W = training.model[0].W
    before, old = W.array, bits(W.array)
    for i in range(2):
        training.step(batch(i))
        assert W.array is before and W.grad is not None
    assert bits(before) != old
    assert bits(before) == bits(training.rule._fp32_param.array.astype(W.dtype))
