"""Random numbers that a function draws: each run draws its own, of the stream of eager calls."""

import random
import re
import threading
from random import uniform

import numpy as np
import pytest
from helpers.compiled import DEVICE, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import optimizer_hooks as hooks, optimizers
from chainer.compilation._effects.updates import Updates

pytestmark = pytest.mark.chainerx


def test_draws_do_not_look_at_optimizers(monkeypatch):
    """They would cost as much for each parameter and each draw."""
    looks = []
    owners = Updates._owners
    monkeypatch.setattr(Updates, '_owners', lambda self: looks.append(1) or owners(self))
    model = chainer.Sequential(*[part for _ in range(5) for part in (L.Linear(3, 3), F.dropout)])
    model.to_device('native:0')
    optimizer = chainer.optimizers.SGD().setup(model)

    @chainer.compile
    def step(x):
        loss = F.sum(model(x))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    for _ in range(4):
        step(model.device.send(np.ones((2, 3), 'f')))
    assert step.recordings == 1 and step.replays == 2
    assert len(looks) == 2  # at the start, and after the update


SCALES = np.array([1, 2, 3], 'f')
GENERATOR_OF_PYTHON = random.Random()


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


# -- numpy.random


def send_nested(x):
    return x + chainerx.array(np.random.normal(0, 1, x.shape).astype('f'))


def send_to_device(x):
    device = chainer.get_device(DEVICE)
    return x + device.send(np.random.uniform(-1, 1, size=(2, x.shape[1] * 1)).astype(np.float32))


def send_with_dtype(x):
    return x + chainerx.array(np.random.rand(3), 'float32', device=x.device)


def send_integers(x):
    mask = np.random.randint(0, 2, x.shape)
    return F.dropout(x).array * chainerx.asarray(mask, dtype='f') + chainerx.array(
        np.random.permutation(3), device=DEVICE
    )


def send_variables(x):
    z = np.random.randn(2, 3)
    n = x * 2
    narrow = z.astype('f')
    return n + chainerx.array(narrow, device=x.device)


def send_in_a_loop(x):
    for _ in range(3):
        z = np.random.standard_normal(3).astype('f')
        x = x * chainerx.array(np.random.choice(5, 3)) + x.dot(chainerx.array(z))[:, None]
    return x


def send_between_others(x):
    """All numbers of one generator, in the order of the program."""
    y = chainerx.random.normal(size=3, dtype='f') if x.ndim else 0
    y = y * chainerx.array(np.random.rand(3).astype('f')) + F.gaussian(x, x).array
    return y + chainerx.array(np.random.beta(1.0, 2.0, 3), device=x.device)


SENT = [
    send_nested, send_to_device, send_with_dtype, send_integers, send_variables, send_in_a_loop,
    send_between_others,
]  # fmt: skip


@pytest.mark.parametrize('check', [False, True])
@pytest.mark.parametrize('function', SENT, ids=lambda f: f.__name__)
def test_arrays_that_are_drawn_and_sent(function, check, seed):
    compare(function, seed, check=check)


def read_an_element(x):
    z = np.random.rand(3).astype('f')
    return (x * 2 if z[0] > 0.5 else x) + chainerx.array(z)


def read_a_scalar(x):
    return x * float(np.random.rand())


def read_within(x):
    z = np.random.rand(3).astype('f')
    if 'z' in vars() and vars()['z'][0] > 0.5:
        x = x * 2
    return x + chainerx.array(z)


def read_by_another_function(x):
    def take(z):
        return chainerx.array(z) * (2 if z[0] > 0.5 else 3)

    return x + take(np.random.rand(3).astype('f'))


def read_by_a_method(x):
    return x + x.take(np.random.randint(0, 2, 2), axis=0)


def read_by_a_filter(x):
    z = next(filter(lambda z: z[0] > 0.2, map(np.random.rand, [3] * 99)))
    return x + chainerx.array(z)


def read_by_a_call(x):
    return x + chainerx.array(next(map(np.random.rand, [3])))


def read_in_a_comparison(x):
    return x + chainerx.array(np.random.rand(3) > 0.5)


def read_in_a_list(x):
    return x + chainerx.array([np.random.rand(3)])


def read_twice(x):
    z = np.random.rand(3).astype('f')
    for _ in range(2):
        x = x + chainerx.array(z)
    return x


def read_by_a_closure(x):
    z = np.random.rand(3).astype('f')
    return x + (lambda: chainerx.array(z))()


def read_later(x):
    z = np.random.rand(3).astype('f')
    z += 1
    return x + chainerx.array(z)


def convert_twice(x):
    return x + chainerx.array(np.random.rand(3).astype('e').astype('f'))


def convert_small_integers_twice(x):
    z = np.random.randint(0, 5000, 3).astype('e')
    return x + chainerx.array(z.astype('f'))


def convert_to_another_order(x):
    return x + chainerx.array(np.random.rand(2, 3).astype('f', order='F'))


def draw_by_an_array(x):
    return x + chainerx.array(np.random.normal(SCALES, 1.0))


def draw_by_another_name(x):
    return x + chainerx.array(RAND(3))


def draw_for_nothing(x):
    np.random.rand(3)
    return x * 2 + chainerx.array(np.random.rand(3))


def draw_for_sending_later(x):
    z = np.random.rand(3)
    return x + chainerx.array(np.random.rand(3)) * len([z])


def shuffle_in_place(x):
    z = np.arange(3)
    np.random.shuffle(z)
    return x + chainerx.array(z)


def seed_within(x):
    np.random.seed(7)
    return x + chainerx.array(np.random.rand(3))


RAND = np.random.rand
READ = [
    read_an_element, read_a_scalar, read_within, read_by_another_function, read_by_a_method,
    read_by_a_filter, read_by_a_call, read_in_a_comparison, read_in_a_list, read_twice,
    read_by_a_closure, read_later, convert_twice, convert_small_integers_twice,
    convert_to_another_order, draw_by_an_array, draw_by_another_name,
    draw_for_nothing, draw_for_sending_later, shuffle_in_place, seed_within,
]  # fmt: skip


@pytest.mark.parametrize('function', READ, ids=lambda f: f.__name__)
def test_numbers_that_the_program_may_read(function, seed):
    if function is seed_within:
        compiled = chainer.compile(function)
        for i in range(6):
            x = array([[1, 2, i]], 'f')
            assert bits(function(x)) == bits(compiled(x))
    else:
        compiled = compare(function, seed, min_replays=0)
    assert compiled.replays == 0
    assert re.search('NumPy|random|seed|shuffle|lambda|vars|rand', compiled.report())


def test_functions_of_numpy_are_those_of_before():
    before = {name: getattr(np.random, name) for name in dir(np.random)}
    compare(send_nested, _seed_of_numpy(), calls=4, min_replays=2)
    assert {name: getattr(np.random, name) for name in dir(np.random)} == before
    compiled = chainer.compile(lambda x: x / np.random.rand() / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            compiled(1)
    assert {name: getattr(np.random, name) for name in dir(np.random)} == before


def test_other_threads_draw_while_one_records():
    stop = threading.Event()
    errors = []

    def draw():
        state = np.random.RandomState(0)
        while not stop.is_set():
            if state.rand(3).shape != np.random.rand(3).shape:
                errors.append(1)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for _ in range(20):
            compiled = chainer.compile(lambda x: x + chainerx.array(np.random.rand(3)))
            for _ in range(4):
                compiled(array([1, 2, 3], 'f'))
    finally:
        stop.set()
        thread.join()
    assert not errors
    assert np.random.rand.__self__ is np.random.normal.__self__


def _seed_of_numpy():
    def function(number):
        np.random.seed(number)

    function.rest = lambda: np.random.rand()
    return function


OF_PYTHON = {
    'a method': lambda x: x * random.random(),
    'an imported function': lambda x: x * uniform(1, 2),
    'called by map': lambda x: x * sum(map(random.gauss, (1, 2), (3, 4))),
    'called by iter': lambda x: x * next(iter(random.random, None)),
    'an object': lambda x: x * GENERATOR_OF_PYTHON.random(),
    'a choice': lambda x: x * random.choice([1.0, 2.0]),
}


@pytest.mark.parametrize('name', OF_PYTHON)
def test_random_numbers_of_python(name):
    """No plan has them as constants, although nothing looks at the state of that generator."""
    function = OF_PYTHON[name]
    compiled, x = chainer.compile(function), array([1, 2], 'f')
    for seed in range(8):
        results = []
        for call in compiled, function:
            for generator in random, GENERATOR_OF_PYTHON:
                generator.seed(seed)
            results.append(bits(call(x)))
        assert results[0] == results[1]
    assert compiled.replays == 0 and 'random' in compiled.report()


@pytest.mark.parametrize('make', [np.random.RandomState, np.random.default_rng])
def test_generators_of_the_program(make):
    """They end plans, with a cure: to draw before the call."""

    class Noisy(chainer.Chain):
        def __init__(self):
            super().__init__()
            self.rng = make(0)

        def forward(self, x):
            return x + chainerx.array(self.rng.normal(size=3).astype('f'))

    model, other = Noisy(), Noisy()
    compiled, x = chainer.compile(model), array([1, 2, 3], 'f')
    for _ in range(6):
        assert bits(compiled(x)) == bits(other(x))
    assert compiled.replays == 0
    reason = 'rng is a random number generator of your own: its state changes unseen. Draw by'
    assert reason in compiled.report()
    cured = chainer.compile(lambda x, noise: x + chainerx.array(noise.astype('f')))
    for _ in range(6):
        noise = model.rng.normal(size=3)
        assert bits(cured(x, noise)) == bits(other(x))
    assert cured.replays == 4
