"""Threads that share models, arrays and devices compute what one thread computes."""

from __future__ import annotations

import contextlib
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from helpers.threads import N_THREADS, in_threads

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from tools.stress.guard import Finding

TASKS_PER_THREAD = 12
OPTIMIZERS = 'SGD', 'MomentumSGD', 'Adam', 'AdaGrad', 'RMSprop', 'AdaDelta'


class Model(chainer.Chain):
    """A small network whose weights come from a seed and not from the common generator."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        draw = np.random.RandomState(seed).standard_normal
        with self.init_scope():
            self.conv = L.Convolution2D(2, 4, 3, initialW=draw((4, 2, 3, 3)).astype('f'))
            self.norm = L.BatchNormalization(4)
            self.out = L.Linear(64, 3, initialW=draw((3, 64)).astype('f'))

    def forward(self, x: Any) -> Any:
        return self.out(F.relu(self.norm(self.conv(x))))


class Shared:
    """What all threads use.

    Args:
        device: Name of the device of the arrays.

    """

    def __init__(self, device: str) -> None:
        self.device = chainer.get_device(device)
        self.model = Model(0).to_device(self.device)
        with chainer.using_config('train', False):
            self.model(self.draw(0, 5, 2, 6, 6))  # initializes what waits for a first input
        self.leaf = chainer.Variable(self.draw(1, 20, 30))
        self.y = F.sum(F.tanh(self.leaf) ** 2)  # its graph is shared, too
        self.counter = L.Linear(3, 2, nobias=True, initialW=0).to_device(self.device)
        self.optimizer = chainer.optimizers.SGD(lr=1).setup(self.counter)
        self.lock = threading.Lock()

    def draw(self, seed: int, *shape: int) -> Any:
        values = np.random.RandomState(seed).standard_normal(shape).astype('f')
        return self.device.send(values)


def train_own_model(shared: Shared, seed: int) -> list[Any]:
    model = Model(seed).to_device(shared.device)
    name = OPTIMIZERS[seed % len(OPTIMIZERS)]
    optimizer = getattr(chainer.optimizers, name)().setup(model)
    for i in range(3):
        loss = F.softmax_cross_entropy(
            model(shared.draw(seed + i, 5, 2, 6, 6)),
            shared.device.send(np.arange(5, dtype='i') % 3),
        )
        model.cleargrads()
        loss.backward()
        optimizer.update()
    return [p.array for p in model.params()]


def use_shared_model(shared: Shared, seed: int) -> list[Any]:
    x = chainer.Variable(shared.draw(seed, 5, 2, 6, 6))
    with chainer.using_config('train', False):
        y = F.sum(shared.model(x) ** 2)
    parameters = [shared.model.out.W, shared.model.conv.W]
    return [y, *chainer.grad([y], [x, *parameters])]


def use_shared_graph(shared: Shared, seed: int) -> list[Any]:
    return chainer.grad([shared.y], [shared.leaf])


def use_shared_leaf(shared: Shared, seed: int) -> list[Any]:
    other = chainer.Variable(shared.draw(seed, 30, 20))
    y = F.sum(F.matmul(shared.leaf, other) ** 2)
    (gx,) = chainer.grad([y], [shared.leaf], enable_double_backprop=True)
    return [gx, *chainer.grad([F.sum(gx**2)], [other])]


def configure(shared: Shared, seed: int) -> list[Any]:
    """Checks that no thread sees the configuration of another."""
    dtype = ['float16', 'float32', 'float64'][seed % 3]
    outer = chainer.config.train
    with chainer.using_config('train', seed % 2 == 0), chainer.using_config('dtype', dtype):
        with chainer.no_backprop_mode() if seed % 5 == 0 else contextlib.nullcontext():
            link = L.Linear(3, 2, initialW=seed)
            y = link.to_device(shared.device)(shared.draw(seed, 4, 3).astype(dtype))
            recorded = y.requires_grad
        kept = F.dropout(shared.draw(seed, 1000), 0.5)
    changed = (kept.array == 0).any()
    return [y, np.array([recorded, changed, chainer.config.train == outer])]


def use_devices(shared: Shared, seed: int) -> list[Any]:
    """Checks that no thread sees the default device or the context of another."""
    if not chainerx.is_available():
        return []
    name = f'native:{seed % 2}'
    with chainerx.using_device(name):
        x = chainerx.ones((3, seed % 7 + 1)).require_grad()
        y = (x * 2).sum()
        y.backward()
        assert x.device.name == y.device.name == chainerx.get_default_device().name == name
    context = chainerx.Context()
    with chainerx.context_scope(context):
        z = chainerx.arange(4.0, device=context.get_device(name))
        assert z.device.context is context
    return [x.get_grad(), z]


def update_shared_model(shared: Shared, seed: int) -> list[Any]:
    """Adds integers to shared parameters, which is exact in any order; others read meanwhile."""
    x = shared.device.send(np.full((1, 3), seed % 5, 'f'))
    with shared.lock:
        shared.counter.cleargrads()
        F.sum(shared.counter(x)).backward()
        shared.optimizer.update()
    assert shared.counter(x).shape == (1, 2)
    return []


TASKS: tuple[Callable[[Shared, int], list[Any]], ...] = (
    train_own_model,
    use_shared_model,
    use_shared_graph,
    use_shared_leaf,
    configure,
    use_devices,
    update_shared_model,
)


def _perform(shared: Shared, task: Callable[[Shared, int], list[Any]], seed: int) -> list[Any]:
    arrays = [chainer.as_array(value) for value in task(shared, seed)]
    return [chainer.get_device('@numpy').send(array) for array in arrays]


def _run(shared: Shared, lists: list[list[tuple[Any, int]]]) -> list[list[Any]]:
    """Performs each list of tasks in a thread of its own."""
    results: list[list[Any]] = [[] for _ in lists]

    def perform(i: int, turn: int) -> None:
        for task, seed in lists[i]:
            results[i].append(_perform(shared, task, seed))

    in_threads(perform, n_turns=1)
    return results


def case(rng: random.Random) -> dict[str, int]:
    """Performs random tasks in one thread and in several."""
    device = rng.choice(['@numpy', 'native:0'] if chainerx.is_available() else ['@numpy'])
    tasks = rng.choices(TASKS, k=rng.randint(1, len(TASKS)))
    lists = [
        [(rng.choice(tasks), rng.randrange(1000)) for _ in range(TASKS_PER_THREAD)]
        for _ in range(N_THREADS)
    ]
    interval = rng.choice([1e-6, 1e-4, 5e-3])
    names = sorted({task.__name__ for task in tasks})
    print(f'{device}, switches threads each {interval} s: {", ".join(names)}', flush=True)

    alone = Shared(device)
    expected = [[_perform(alone, task, seed) for task, seed in tasks] for tasks in lists]
    together = Shared(device)
    sys.setswitchinterval(interval)
    actual = _run(together, lists)
    for tasks, lefts, rights in zip(lists, expected, actual):
        for (task, seed), left, right in zip(tasks, lefts, rights):
            same = [np.array_equal(a, b, equal_nan=True) for a, b in zip(left, right)]
            if not all(same) or len(left) != len(right):
                raise Finding(f'{task.__name__} of seed {seed}: {right} instead of {left}')
    sums = [chainer.get_device('@numpy').send(x.counter.W.array) for x in (alone, together)]
    if not np.array_equal(*sums):
        raise Finding(f'the shared model has {sums[1]} instead of {sums[0]}')
    return {f'tasks on {device}': N_THREADS * TASKS_PER_THREAD}
