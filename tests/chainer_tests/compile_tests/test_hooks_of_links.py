"""Hooks of links in plans: their kernels run again, and nothing else may."""

import io

import numpy as np
import pytest
from helpers.compiled import DEVICE, Pair, array, bits, state_of

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import function_hooks, link_hooks, optimizers

pytestmark = pytest.mark.chainerx


class Network(chainer.Chain):
    """Links whose weights have axes in different orders."""

    def __init__(self, *make):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 3, 2)
            self.deconv = L.Deconvolution2D(3, 2, 2)
            self.out = L.Linear(18, 3)
        for link in self.children():
            for make_hook in make:
                link.add_hook(make_hook())

    def forward(self, x):
        return self.out(F.relu(self.deconv(F.relu(self.conv(x)))))


class Training:
    def __init__(self, *make, model=None):
        self.model = (model or Network(*make)).to_device(DEVICE)
        self.optimizer = optimizers.Adam(0.01).setup(self.model)

    @property
    def hooks(self):
        return [h for link in self.model.links() for h in link.local_link_hooks.values()]

    def step(self, x, t):
        if not chainer.config.train:
            with chainer.no_backprop_mode():
                return self.model(x)
        loss = F.softmax_cross_entropy(self.model(x), t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def state(self):
        hooks = [(vars(hook).get('u'), vars(hook).get('v')) for hook in self.hooks]
        return {**state_of(self.model, self.optimizer), 'hooks': bits(hooks)}


def batch(seed, n=4):
    rng = np.random.RandomState(seed)
    return array(rng.rand(n, 1, 3, 3), 'f'), array(rng.randint(0, 3, n), 'i')


def spectral(**options):
    return lambda: link_hooks.SpectralNormalization(**options)


HOOKS = {
    'SpectralNormalization': [spectral()],
    'with more iterations': [spectral(n_power_iteration=3, factor=2.0)],
    'with gamma': [spectral(use_gamma=True)],
    'WeightStandardization': [link_hooks.WeightStandardization],
}


@pytest.mark.parametrize('name', HOOKS)
def test_training(name):
    """Plans take the vectors of one call on to the next, also through evaluation."""
    pair = Pair(lambda: Training(*HOOKS[name]))
    for i in range(6):
        pair.run(*batch(i))
    assert pair.function.replays >= 3, pair.function.report()
    for i in range(12):
        with chainer.using_config('train', i % 3 != 2):
            is_run = pair.run(*batch(i, 4 + i % 2))
    assert is_run, pair.function.report()
    for hook in pair.compiled.hooks:
        if 'u' in vars(hook):
            assert hook.u.dtype == 'float32' and type(hook.u) is type(hook.v)


def test_check():
    pair = Pair(lambda: Training(*HOOKS['with gamma']), check=True)
    for i in range(8):
        pair.run(*batch(i))
    assert pair.function.replays >= 4, pair.function.report()


def _set(**values):
    return lambda p: [setattr(hook, key, v) for hook in p.hooks for key, v in values.items()]


def _load(program):
    """Gives the links vectors of their own, where the hooks had the same."""
    file = io.BytesIO()
    chainer.serializers.save_npz(file, program.model)
    file.seek(0)
    for link in program.model.children():
        link.W_u = link.W_u.copy()
    chainer.serializers.load_npz(file, program.model)


def _other_vectors(program):
    for link in program.model.children():
        link.W_u = array(np.ones(link.W_u.shape), 'f')


def _share(program):
    """Gives a hook the vector of another link of the same size."""
    program.model.conv.local_link_hooks['SpectralNormalization'].u = program.model.out.W_u


CHANGES = {
    'eps': _set(eps=0.5),
    'iterations': _set(n_power_iteration=2),
    'factor': _set(factor=3.0),
    'another name': _set(name='other'),
    'loaded': _load,
    'other vectors': _other_vectors,
    'a shared vector': _share,
    'deleted': lambda p: p.model.out.delete_hook('SpectralNormalization'),
    'another hook': lambda p: (
        p.model.out.delete_hook('SpectralNormalization'),
        p.model.out.add_hook(link_hooks.WeightStandardization()),
    ),
    'a new hook': lambda p: (
        p.model.out.delete_hook('SpectralNormalization'),
        p.model.out.add_hook(link_hooks.SpectralNormalization(n_power_iteration=2)),
    ),
}


@pytest.mark.parametrize('name', CHANGES)
def test_changes(name):
    pair = Pair(lambda: Training(spectral()))
    for i in range(6):
        pair.run(*batch(i))
    assert pair.function.replays >= 3, pair.function.report()
    for program in pair.programs:
        np.random.seed(1)
        CHANGES[name](program)
    for i in range(5):
        is_run = pair.run(*batch(i))
    assert is_run, pair.function.report()


class Scaled(chainer.LinkHook):
    """A hook of a program that computes."""

    name = 'Scaled'

    def __init__(self):
        self.rate = 2.0

    def forward_preprocess(self, args):
        bias = args.link.b.array
        bias *= self.rate

    def forward_postprocess(self, args):
        bias = args.link.b.array
        bias /= self.rate


class Counting(chainer.LinkHook):
    count = 0

    def forward_preprocess(self, args):
        self.count += 1


class Printing(chainer.LinkHook):
    def forward_preprocess(self, args):
        print(end='')


def test_hooks_of_programs():
    """They are code like any other."""
    pair = Pair(lambda: Training(Scaled))
    for i in range(9):
        if i == 5:
            for program in pair.programs:
                _set(rate=4.0)(program)
        pair.run(*batch(i))
    assert pair.function.replays >= 4, pair.function.report()
    assert pair.function.recordings == 2


@pytest.mark.parametrize(
    'make, reason',
    [
        (Counting, 'count of Counting changes (test_hooks_of_links.py:'),
        (Printing, 'a call of print (test_hooks_of_links.py:'),
        (link_hooks.TimerHook, 'TimerHook, whose effects no plan repeats'),
    ],
    ids=['counting', 'printing', 'timer'],
)
def test_hooks_with_effects(make, reason):
    pair = Pair(lambda: Training(make))
    for i in range(5):
        pair.run(*batch(i))
    assert pair.function.replays == 0
    assert reason in pair.function.report()
    assert make is not Counting or [hook.count for hook in pair.compiled.hooks] == [5, 5, 5]


@pytest.mark.parametrize('make', [link_hooks.TimerHook, function_hooks.TimerHook])
def test_hooks_of_the_thread(make):
    """They see each call, so that no plan runs while they are active, and afterwards it does."""
    pair = Pair(lambda: Training(link_hooks.WeightStandardization))
    for i in range(4):
        pair.run(*batch(i))
    assert pair.function.replays >= 2
    with make() as hook:
        assert not pair.run(*batch(0))
    assert len(hook.call_history) > 0
    assert 'hooks of functions or links are active' in pair.function.report()
    assert pair.run(*batch(0))
