"""Random numbers that a function draws: each run draws its own, of the stream of eager calls."""

import random

import numpy as np
import pytest
from helpers.compiled import DEVICE, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers

pytestmark = pytest.mark.chainerx

SCALES = np.array([1, 2, 3], 'f')


def draw_normal(x):
    return x + chainerx.random.normal(0.5, 2.0, x.shape, 'float32', x.device)


def draw_uniform(x):
    return x + chainerx.random.uniform(-1, 1, x.shape, 'float32')


def draw_standard(x):
    y = chainerx.random.randn(*x.shape, dtype='f') * chainerx.random.rand(3, dtype='f')
    return x + y + chainerx.random.standard_normal(dtype='f')


def draw_integers(x):
    return x * chainerx.random.randint(1, 7, x.shape).astype('f')


def draw_orders(x):
    x = x.copy()
    chainerx.random.shuffle(x)
    return x + chainerx.random.permutation(3) + chainerx.random.permutation(x)


def draw_choices(x):
    y = chainerx.random.choice(5, 3, replace=False) + chainerx.random.choice(x[0], 3)
    return x + y + chainerx.random.choice(3, (2, 3), p=[0.5, 0.25, 0.25])


def draw_mixed(x):
    """Numbers of both generators, in the middle of each other."""
    y = F.dropout(x) + chainerx.random.normal(size=x.shape, dtype='f')
    y = F.dropout(y) + F.gaussian(x, x)
    return F.dropout(y) + chainerx.random.randint(3, size=3) + F.zoneout(x, x * 2)


DRAWS = [
    draw_normal, draw_uniform, draw_standard, draw_integers, draw_orders, draw_choices, draw_mixed,
]  # fmt: skip


@pytest.fixture(params=[True, False], ids=['seeded', 'of NumPy'])
def seed(request):
    """Seeds the generators; returns a function that gives what is left of the streams."""

    def function(number):
        chainerx.random.seed(number)
        np.random.seed(number)
        if not request.param:
            chainerx.random.seed(None)

    def rest():
        chainerx.random.seed  # noqa: B018
        return bits([np.random.rand(3), F.dropout(array(np.ones(99), 'f')), random.random()])

    function.rest = rest
    yield function
    chainerx.random.seed(None)


def compare(function, seed, calls=8, min_replays=6, **options):
    """Runs a function eagerly and by plans."""
    results = []
    with chainerx.using_device(DEVICE):
        for call in function, chainer.compile(function, **options):
            seed(0)
            random.seed(0)
            with chainer.using_config('train', True), chainer.no_backprop_mode():
                results.append(
                    [bits(call(array([[1, 2, i], [4, 5, 6]], 'f'))) for i in range(calls)]
                )
            results[-1].append(seed.rest())
    assert results[0] == results[1]
    assert len(set(map(str, results[0]))) > calls - 2  # each call draws its own
    assert call.replays >= min_replays, call.report()
    return call


@pytest.mark.parametrize('check', [False, True])
@pytest.mark.parametrize('function', DRAWS, ids=lambda f: f.__name__)
def test_draws(function, check, seed):
    compare(function, seed, check=check)


def test_another_generator():
    """A plan serves the generator only from which its numbers came."""
    compiled = chainer.compile(draw_normal)
    x = array([[1, 2, 3]], 'f')
    for number in 1, None, 2, None, None, 3:
        found = []
        for function in draw_normal, compiled:
            for _ in range(4):
                np.random.seed(5)
                chainerx.random.seed(number)
                with chainerx.using_device(DEVICE):
                    found.append(bits(function(x)))
        assert len(set(found)) == 1
    assert compiled.recordings == 2


def test_parameters_that_are_arrays(seed):
    def function(x):
        return x + chainerx.random.normal(chainerx.array(SCALES), 1.0, dtype='f')

    assert compare(function, seed, min_replays=0).replays == 0

    def function(x):
        return x + chainerx.random.normal(SCALES, 1.0, dtype='f')

    compare(function, seed, min_replays=0)


class Training:
    def __init__(self, hook=None, *others):
        self.model = chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2)).to_device(DEVICE)
        self.optimizer = optimizers.Adam().setup(self.model)
        if hook is not None:
            self.optimizer.add_hook(hook)

    def step(self, x):
        """Two updates, as of a discriminator and of a generator, each with noise of its own."""
        for _ in range(2):
            z = chainerx.random.normal(size=x.shape, dtype='f', device=x.device)
            loss = F.sum(self.model(F.dropout(x + z)) ** 2)
            self.model.cleargrads()
            loss.backward()
            self.optimizer.update()
        return loss


@pytest.mark.parametrize(
    ('hook', 'is_planned'),
    [
        (None, True),
        (hooks.WeightDecay(0.1), True),
        (hooks.GradientClipping(0.1), True),
        (hooks.GradientNoise(0.1), False),
        (lambda opt: None, False),
    ],
    ids=['none', 'decay', 'clipping', 'noise', 'own'],
)
def test_draws_after_an_update(hook, is_planned):
    found = []
    for compiled in False, True:
        np.random.seed(1)
        training = Training(hook)
        step = chainer.compile(training.step) if compiled else training.step
        chainerx.random.seed(1)
        chainerx.random.seed(None)
        losses = [bits(step(array([[1, 2, i]], 'f'))) for i in range(8)]
        found.append([losses, state_of(training.model, training.optimizer), np.random.rand()])
    assert found[0] == found[1]
    assert (step.replays == 6) is is_planned
    if not is_planned:
        reason = 'random numbers are drawn after an update that may draw some (test_random_numbers'
        assert reason in step.report()


def test_errors_of_draws(seed):
    def function(x):
        return x + chainerx.random.normal(0.0, SCALES[0] - 5, x.shape, 'f')

    compiled = chainer.compile(function)
    for _ in range(4):
        with pytest.raises((ValueError, chainerx.ChainerxError), match='scale'):
            compiled(array([[1, 2, 3]], 'f'))
    assert compiled.replays == 0
