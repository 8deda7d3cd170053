"""Loss scales in plans, constant and dynamic, compared with eager steps bit by bit."""

import warnings

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers
from chainer.compilation._effects.eager_update import EagerUpdate
from chainer.compilation._effects.scaled_update import ScaledUpdate

pytestmark = pytest.mark.chainerx

HUGE = np.inf  # makes gradients that are not finite


class Training:
    def __init__(self, optimizer=optimizers.Adam, dtype='e', **scaling):
        with chainer.using_config('dtype', np.dtype(dtype)):
            self.model = chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2))
        self.model.to_device(DEVICE)
        self.optimizer = optimizer().setup(self.model)
        if scaling:
            self.optimizer.loss_scaling(**scaling)

    def loss(self, x):
        return F.sum(self.model(x) ** 2)

    def step(self, x):
        self.optimizer.update(self.loss, x)

    def state(self):
        opt = self.optimizer
        scaling = [opt._loss_scale, opt._loss_scaling_isnan, opt._loss_scaling_isnan_ever]
        return state_of(self.model, opt) | {'scaling': scaling}


class OwnLoop(Training):
    def step(self, x):
        loss = self.loss(x)
        self.model.cleargrads()
        loss.backward(loss_scale=self.optimizer._loss_scale)
        self.optimizer.update()
        return loss


class OfSeveral(OwnLoop):
    """Other functions that take loss scales, and gradients of gradients."""

    def step(self, x):
        losses = [self.loss(x), self.loss(x * 2)]
        ones = [chainer.as_variable(chainerx.ones_like(loss.array)) for loss in losses]
        self.model.cleargrads()
        chainer.backward(losses, ones, loss_scale=self.optimizer._loss_scale)
        (gw,) = chainer.grad(
            [self.loss(x)],
            [self.model[0].W],
            enable_double_backprop=True,
            loss_scale=8.0,
        )
        F.sum(gw**2).backward(loss_scale=2.0)
        self.optimizer.update()


def batch(seed, dtype='e'):
    return array(np.random.RandomState(seed).rand(5, 3), dtype)


def updates(pair):
    effects = pair.function._plans.in_order[0].effects
    return [type(e) for e in effects if isinstance(e, (EagerUpdate, ScaledUpdate))]


def change(pair, function):
    for program in pair.programs:
        function(program)


def run(pair, seeds, dtype='e', huge=()):
    """Runs calls, some of which overflow; returns how many ran a plan."""
    before = pair.function.replays
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for seed in seeds:
            pair.run(batch(seed, dtype) * (HUGE if seed in huge else 1))
    return pair.function.replays - before


HOOKS = {
    'none': [],
    'WeightDecay': [(hooks.WeightDecay(0.1), 'pre')],
    'clipping': [(hooks.GradientClipping(0.1), 'pre')],
    'noise': [(hooks.GradientNoise(0.1), 'pre')],
    'late': [(hooks.WeightDecay(0.1), 'post')],
    'several': [
        (hooks.Lasso(0.1), 'pre'),
        (hooks.GradientClipping(0.2), 'pre'),
        (hooks.WeightDecay(0.1), 'pre'),
        (hooks.GradientNoise(0.1), 'post'),
        (hooks.GradientHardClipping(-1, 1), 'post'),
    ],
}


@pytest.mark.parametrize('make', [Training, OwnLoop])
@pytest.mark.parametrize('optimizer', ['SGD', 'Adam', 'AdamW', 'MomentumSGD'])
@pytest.mark.parametrize('name', HOOKS)
def test_dynamic_scales(name, optimizer, make):
    pair = Pair(lambda: make(getattr(optimizers, optimizer), interval=3))
    for i, (hook, timing) in enumerate(HOOKS[name]):
        change(
            pair,
            lambda p, hook=hook, i=i, timing=timing: p.optimizer.add_hook(hook, f'{i}', timing),
        )
    assert run(pair, range(40), huge=(20, 21, 33)) == 38, pair.function.report()
    assert pair.function.recordings == 1
    assert updates(pair) == [ScaledUpdate]
    opt = pair.compiled.optimizer
    assert opt.t < 40 and opt._loss_scaling_isnan_ever
    assert 'Python reads whether gradients are finite' in pair.function.summary()


@pytest.mark.parametrize('make', [Training, OwnLoop])
def test_growth(make):
    """The scale doubles until the first overflow, then once in an interval."""
    pair = Pair(lambda: make(interval=4))
    run(pair, range(8))
    assert pair.compiled.optimizer._loss_scale == 2.0**8
    run(pair, [8], huge=[8])
    assert pair.compiled.optimizer._loss_scale == 2.0**7
    assert pair.compiled.optimizer.t == 8
    run(pair, range(4))
    assert pair.compiled.optimizer._loss_scale == pytest.approx(2.0**8)
    assert pair.function.replays == 11


@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_dtypes(dtype):
    pair = Pair(lambda: Training(dtype=dtype, interval=2))
    assert run(pair, range(30), dtype) == 28
    assert pair.compiled.optimizer._loss_scale == 65504.0 or dtype == 'e'


@pytest.mark.parametrize('make', [Training, OwnLoop])
@pytest.mark.parametrize('dtype', ['e', 'f'])
def test_constant_scales(dtype, make):
    pair = Pair(lambda: make(dtype=dtype, scale=128.0))
    run(pair, range(6), dtype)
    for scale in 8.0, 3, 1024.0, np.float32(4), 2**60 if dtype == 'f' else 5.0, 8:
        change(pair, lambda p, scale=scale: p.optimizer.set_loss_scale(scale))
        is_followed = type(scale) in (int, float) and scale < 2**53
        assert (run(pair, [1], dtype) == 1) is is_followed
        pair.settle(batch(2, dtype))
    change(pair, lambda p: p.optimizer.loss_scaling(interval=5))
    assert run(pair, range(9), dtype) >= 6, pair.function.report()
    change(pair, lambda p: setattr(p.optimizer, '_loss_scale', None))
    change(pair, lambda p: setattr(p.optimizer, '_loss_scaling_is_dynamic', False))
    assert run(pair, [1], dtype) == 0
    pair.settle(batch(2, dtype))


def test_two_updates():
    """The second update goes back with the scale that the first one leaves."""

    class Twice(Training):
        def step(self, x):
            super().step(x)
            super().step(x + 1)

    pair = Pair(lambda: Twice(interval=50))
    assert run(pair, range(30), huge=[12, 25]) == 28
    assert updates(pair) == [ScaledUpdate] * 2
    change(pair, lambda p: p.optimizer.add_hook(lambda opt: None, 'own'))
    assert run(pair, range(10), huge=[7]) >= 6, pair.function.report()
    assert updates(pair) == [EagerUpdate] * 2


def test_two_optimizers():
    class Two(Training):
        def __init__(self, *args, **scaling):
            super().__init__(*args, **scaling)
            self.other = OwnLoop(optimizers.SGD, scale=64.0)

        def step(self, x):
            super().step(x)
            return self.other.step(x)

        def state(self):
            return super().state() | {'other': self.other.state()}

    pair = Pair(lambda: Two(interval=2))
    assert run(pair, range(12)) == 10
    change(pair, lambda p: p.other.optimizer.set_loss_scale(2.0))
    assert run(pair, range(12), huge=[5]) == 12


@pytest.mark.parametrize('scale', [64.0, 8.0, 2.0])
def test_equal_scales_of_other_origin(scale):
    """Only the scale of the optimizer is read again, even if another one is equal, or the same."""
    pair = Pair(lambda: OfSeveral(dtype='f', scale=scale))
    run(pair, range(6), 'f')
    assert pair.function.replays == 4, pair.function.report()
    change(pair, lambda p: p.optimizer.set_loss_scale(4.0))
    assert run(pair, range(3), 'f') == 3

    class Same(Training):
        def step(self, x):
            self.model.cleargrads()
            self.loss(x).backward(loss_scale=scale)
            self.optimizer.update()

    pair = Pair(lambda: Same(dtype='f', scale=scale))
    run(pair, range(5), 'f')
    change(pair, lambda p: p.optimizer.set_loss_scale(1e-30))
    run(pair, range(5), 'f')
    assert pair.function.replays == 8


def _branch(self, x):
    factor = 2 if self.optimizer._loss_scale > 8 else 3
    self.optimizer.update(lambda x: self.loss(x) * factor, x)


def _computed(self, x):
    loss = self.loss(x)
    self.model.cleargrads()
    loss.backward(loss_scale=self.optimizer._loss_scale * 2)
    self.optimizer.update()


def _through_a_function(self, x):
    def backward(loss, loss_scale):
        loss.backward(loss_scale=loss_scale if loss_scale < 8 else 8.0)

    loss = self.loss(x)
    self.model.cleargrads()
    backward(loss, loss_scale=self.optimizer._loss_scale)
    self.optimizer.update()


def _through_a_method(self, x):
    self.x = None
    self.backward(self.loss(x), loss_scale=self.optimizer._loss_scale)
    self.optimizer.update()


def _by_getattr(self, x):
    factor = getattr(self.optimizer, '_loss' + '_scale')
    self.optimizer.update(lambda x: self.loss(x) * factor, x)


def _of_chainerx(self, x):
    loss = self.loss(x)
    self.model.cleargrads()
    loss.array.backward(loss_scale=self.optimizer._loss_scale)
    self.optimizer.update()


READERS = _branch, _computed, _through_a_function, _through_a_method, _by_getattr, _of_chainerx


@pytest.mark.parametrize('step', READERS, ids=lambda step: step.__name__)
@pytest.mark.parametrize('scaling', [{'interval': 3}, {'scale': 4.0}], ids=['dynamic', 'constant'])
def test_programs_that_read_scales(step, scaling):
    """Where code may do anything with the scale, no run follows it, and none is stale."""

    class Reading(Training):
        def backward(self, loss, **kwargs):
            self.model.cleargrads()
            loss.backward(loss_scale=kwargs['loss_scale'] * 2)

    Reading.step = step
    pair = Pair(lambda: Reading(dtype='f', **scaling))
    for i in range(30):
        if i % 6 == 5 and 'scale' in scaling:
            change(pair, lambda p, i=i: p.optimizer.set_loss_scale(4.0 + i))
        pair.function._budget.wait = 0
        pair.run(batch(i, 'f'))
    if 'scale' in scaling and step in (_branch, _computed, _through_a_function, _through_a_method):
        assert pair.function.replays >= 10, pair.function.report()


def test_changes_within_a_step():
    class Changing(Training):
        def step(self, x):
            super().step(x)
            self.optimizer.set_loss_scale(4.0)

    pair = Pair(lambda: Changing(scale=2.0))
    run(pair, range(5))
    assert pair.function.replays == 0
    assert 'a loss scale changes outside of an update' in pair.function.report()


def test_hooks_of_rules_run_eagerly():
    """What such a hook gives the steps does not exist where a run leaves them out."""
    pair = Pair(lambda: Training(interval=3))
    change(pair, lambda p: p.model[0].W.update_rule.add_hook(hooks.WeightDecay(0.1)))
    assert run(pair, range(12), huge=[8]) >= 8
    assert updates(pair) == [EagerUpdate]
    assert 'an update rule has hooks, and the loss scale is dynamic' in pair.function.summary()


def test_an_overflow_while_recording():
    pair = Pair(lambda: Training(interval=3))
    run(pair, range(2), huge=range(2))
    assert pair.function.recordings == 0
    assert 'an update is left out, as gradients are not finite' in pair.function.report()
    assert run(pair, range(10)) >= 6


def test_the_warning_of_the_first_overflow():
    pair = Pair(lambda: Training(interval=3))
    run(pair, range(6))
    texts = []
    for step in pair.usual.step, pair.function:
        with pytest.warns(UserWarning, match='Non finite number found in param.grad of ') as caught:
            step(batch(0) * HUGE)
        texts.append([str(w.message) for w in caught])
    assert texts[0] == texts[1]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert pair.run(batch(1) * HUGE)


@pytest.mark.parametrize('hook', [None, hooks.GradientClipping(0.1)])
@pytest.mark.parametrize('make', [Training, OwnLoop])
def test_check(make, hook):
    pair = Pair(lambda: make(interval=3), check=True)
    if hook is not None:
        change(pair, lambda p: p.optimizer.add_hook(hook))
    assert run(pair, range(20), huge=[9, 15]) == 18


def test_saved_scales(tmp_path):
    pair = Pair(lambda: Training(interval=3))
    run(pair, range(12), huge=[9])
    for i, program in enumerate(pair.programs):
        path = str(tmp_path / f'{i}.npz')
        chainer.serializers.save_npz(path, program.optimizer)
        program.optimizer._loss_scale = 2.0
        chainer.serializers.load_npz(path, program.optimizer)
    run(pair, range(6), huge=[3])
    assert pair.function.replays >= 14


def test_a_numpy_model_falls_back():
    training = Training(interval=3)
    training.model.to_device('@numpy')
    step = chainer.compile(training.step)
    for i in range(3):
        step(np.random.RandomState(i).rand(5, 3).astype('e'))
    assert step.replays == 0 and training.optimizer._loss_scale == 8.0
