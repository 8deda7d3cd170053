"""Threads that do everything at once compute what one thread computes.

Arrays that threads share are only read, as those of NumPy; gradients and graphs may be shared freely.
``tools/sanitize.py thread`` runs these tests to find data races.
"""

import pickle
import random
import sys
import weakref

import numpy as np
import pytest
from helpers.threads import N_THREADS, in_threads

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx

SIZES = [3, 70, 300]  # kernels on the largest use several threads and let others run


class Shared:
    """What all threads use: the same number of arrays of each size."""

    def __init__(self):
        rng = np.random.RandomState(0)
        self.matrices = [chainerx.array(rng.normal(size=(n, n)).astype('f')) for n in SIZES]
        self.weights = [chainerx.array(rng.normal(size=(n, n)).astype('f')) for n in SIZES]
        for w in self.weights:
            w.require_grad()
        self.losses = [chainerx.tanh(w.dot(x)).sum() for w, x in zip(self.weights, self.matrices)]
        self.images = chainerx.array(rng.normal(size=(2, 3, 20, 20)).astype('f'))
        self.filters = chainerx.array(rng.normal(size=(4, 3, 3, 3)).astype('f')).require_grad()


def create(shared, choice):
    n = choice(SIZES)
    dtype = choice(chainerx.all_dtypes)
    x = chainerx.arange(n).astype(dtype)
    y = chainerx.full((n, n), 1, dtype, device=choice(['native:0', 'native:1']))
    return [x, y, chainerx.eye(n), chainerx.zeros_like(x), chainerx.array(x.tolist()), x.copy()]


def compute(shared, choice):
    x = choice(shared.matrices)
    n = len(x)
    y = choice([chainerx.exp, chainerx.tanh, chainerx.softmax, chainerx.isnan])(x)
    z = choice([chainerx.sum, chainerx.argmax, chainerx.sort, chainerx.cumsum])(x, axis=1)
    return [y, z, chainerx.einsum('ij,kj->ik', x, x), x[::-1, n // 2], x[x > 0], x + y, x.T @ x]


def write(shared, choice):
    x = choice(shared.matrices).copy()
    x += choice(shared.matrices)[0, 0]
    x[1:] *= 2
    x[choice(range(len(x)))] = x[0]
    x[x < 0] = 0
    chainerx.copyto(x[:, :1], x[:, 1:2])
    return [x]


def convolve(shared, choice):
    y = chainerx.conv(shared.images, shared.filters, stride=choice([1, 2]), pad=1)
    y = chainerx.max_pool(chainerx.relu(y), 2)
    return [y, *chainerx.grad([y.sum()], [shared.filters])]


def differentiate(shared, choice):
    w = choice(shared.weights)
    y = (chainerx.sigmoid(w) * w).sum()
    (gw,) = chainerx.grad([y], [w], enable_double_backprop=True)
    (ggw,) = chainerx.grad([gw.sum()], [w])
    return [y, gw, ggw]


def differentiate_shared_graph(shared, choice):
    i = choice(range(len(SIZES)))
    return chainerx.grad([shared.losses[i]], [shared.weights[i]])


def accumulate(shared, choice):
    w = choice(shared.weights)
    (w * 0).sum().backward()  # all threads add to one gradient and read it
    return [w.grad.as_grad_stopped()]


def scopes(shared, choice):
    w = choice(shared.weights)
    with chainerx.backprop_scope('own') as graph:
        x = w.as_grad_stopped(copy=True).require_grad(graph)
        y = (x * w).sum()
        with chainerx.no_backprop_mode(graph):
            assert not (x * 2).is_backprop_required(graph)
        chainerx.backward(y, graph)
        return [x.get_grad(graph)]


def contexts(shared, choice):
    name = choice(['native:0', 'native:1', 'native:2'])
    context = chainerx.Context()
    with chainerx.context_scope(context), chainerx.using_device(context.get_device(name)):
        x = chainerx.ones(4).require_grad()
        assert x.device.context is context and x.device.name == name
        (x * 3).sum().backward()
    return [x.grad]


def devices(shared, choice):
    name = f'native:{choice(range(4))}'
    x = choice(shared.matrices).to_device(name)
    with chainerx.using_device(name):
        y = chainerx.ones((2, 3))
        assert y.device is chainerx.get_default_device() is chainerx.get_device(name) is x.device
    return [x, y, x.to_device('native:0')]


def exchange(shared, choice):
    x = choice(shared.matrices)
    y = np.from_dlpack(x)
    z = chainerx.from_dlpack(y.copy())
    capsules = [x.__dlpack__() for _ in range(3)]
    del capsules
    return [z, chainerx.array(y), chainerx.from_dlpack(x), chainerx.frombuffer(memoryview(x), 'f')]


def copy_by_pickle(shared, choice):
    x, w = choice(shared.matrices), choice(shared.weights)
    y = pickle.loads(pickle.dumps(x, choice([2, 5])))
    return [y, pickle.loads(pickle.dumps(w)).as_grad_stopped()]


def refer(shared, choice):
    w = choice(shared.weights)
    y = w * 2
    reference = weakref.ref(y)
    del y
    assert reference() is None and chainerx._core._live_array_count() > 0
    return []


def fail(shared, choice):
    x = choice(shared.matrices)
    for call in (
        lambda: x + chainerx.zeros(1000),
        lambda: x.reshape(7),
        lambda: chainerx.get_device('nothing:0'),
        lambda: x[1000],
        lambda: chainerx.zeros(2**61),
    ):
        with pytest.raises((chainerx.ChainerxError, MemoryError)):
            call()
    return []


def train(shared, choice):
    name = choice(['SGD', 'MomentumSGD', 'Adam', 'RMSprop', 'AdaDelta'])
    x = shared.matrices[1]
    model = L.Linear(70, 30, initialW=np.full((30, 70), 0.1, 'f')).to_device('native:0')
    optimizer = getattr(chainer.optimizers, name)().setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1))
    for _ in range(2):
        model.cleargrads()
        F.mean(F.relu(model(x)) ** 2).backward()
        optimizer.update()
    return [p.array for p in model.params()]


JOBS = [
    create,
    compute,
    write,
    convolve,
    differentiate,
    differentiate_shared_graph,
    accumulate,
    scopes,
    contexts,
    devices,
    exchange,
    copy_by_pickle,
    refer,
    fail,
    train,
]


def perform(shared, jobs, seed, n_turns):
    """Returns what random jobs compute, as text of bytes: arrays would be in the way."""
    choice = random.Random(seed).choice
    results = []
    for _ in range(n_turns):
        job = choice(jobs)
        arrays = [chainerx.to_numpy(x) for x in job(shared, choice)]
        results.append((job.__name__, [(x.shape, x.tobytes()) for x in arrays]))
    return results


@pytest.fixture
def many_switches():
    interval, n_threads = sys.getswitchinterval(), chainerx._core._get_num_threads()
    sys.setswitchinterval(1e-5)
    chainerx._core._set_num_threads(3)
    yield
    chainerx._core._set_num_threads(n_threads)
    sys.setswitchinterval(interval)


@pytest.mark.parametrize(
    ('jobs', 'n_turns'),
    [*(pytest.param([job], 8, id=job.__name__) for job in JOBS), pytest.param(JOBS, 60, id='all')],
)
def test_jobs(jobs, n_turns, many_switches):
    alone = Shared()
    expected = [perform(alone, jobs, seed, n_turns) for seed in range(N_THREADS)]
    shared = Shared()

    def work(i, turn):
        for actual, desired in zip(perform(shared, jobs, i, n_turns), expected[i]):
            assert actual == desired, desired[0]

    in_threads(work, 1)
