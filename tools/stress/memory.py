"""Too little memory: ``MemoryError`` and nothing else, and once there is memory all goes on."""

from __future__ import annotations

import copy
import gc
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import serializers
from tools.stress.guard import Finding, limit_memory

STEPS_PER_CASE = 60
SIZES = [2**i for i in range(4, 27)]
OPTIMIZERS = 'SGD', 'MomentumSGD', 'Adam', 'AdaGrad', 'RMSprop', 'SMORMS3'


def _arrays(device: Any, n: int) -> Any:
    x = device.xp.ones(n, 'f') * 2 + 1
    y = x.reshape(-1, 4).T.copy()
    return y.dot(y.T), (x > 2).sum(), device.xp.exp(x[::-1])


def _join(device: Any, n: int) -> Any:
    x = device.xp.arange(n)
    return device.xp.concatenate([x, x]), device.xp.stack([x, x]), device.xp.repeat(x, 3)


def _index(device: Any, n: int) -> Any:
    x = device.xp.ones((n // 4, 4), 'd')
    x[1:] = x[:-1] * 2
    return x.astype('f'), x[device.xp.arange(n // 8)], device.xp.where(x > 1, x, -x)


def _train(device: Any, n: int) -> Any:
    model = L.Linear(n // 16, 16, initialW=0.1)
    model.to_device(device)
    optimizer = getattr(chainer.optimizers, OPTIMIZERS[n % len(OPTIMIZERS)])().setup(model)
    for _ in range(2):
        optimizer.update(lambda x: F.sum(model(x) ** 2), device.send(np.ones((2, n // 16), 'f')))
    return model.W.array


def _functions(device: Any, n: int) -> Any:
    x = chainer.Variable(device.send(np.ones((2, 2, 4, n // 16), 'f')))
    w = device.send(np.ones((3, 2, 3, 3), 'f'))
    h = F.max_pooling_2d(F.relu(F.convolution_2d(x, w, pad=1)), 2)
    y = F.sum(F.log_softmax(F.tanh(h)))
    y.backward()
    return x.grad


def _copies(device: Any, n: int) -> Any:
    model = L.Linear(n // 4, 4, initialW=0.1).to_device(device)
    return copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.copy('copy')


def _files(device: Any, n: int) -> Any:
    model = L.Linear(n // 4, 4, initialW=0.5).to_device(device)
    other = L.Linear(n // 4, 4, initialW=0).to_device(device)
    # Not BytesIO, which is closed once it gets no memory.
    serializers.save_npz('model.npz', model, compression=False)
    serializers.load_npz('model.npz', other)
    return other


def _batches(device: Any, n: int) -> Any:
    dataset = chainer.datasets.TupleDataset(np.ones((4, n), 'f'), np.arange(4))
    iterator = chainer.iterators.SerialIterator(dataset, 4, shuffle=False)
    return chainer.dataset.concat_examples(next(iterator), device)


def _graph(device: Any, n: int) -> Any:
    x = chainer.Variable(device.send(np.ones(n // 256, 'f')))
    y = x
    for _ in range(100):
        y = y * 2 + x
    (gx,) = chainer.grad([F.sum(y**2)], [x], enable_double_backprop=True)
    return chainer.grad([F.sum(gx)], [x])


STEPS: tuple[Callable[[Any, int], Any], ...] = (
    _arrays,
    _join,
    _index,
    _train,
    _functions,
    _copies,
    _files,
    _batches,
    _graph,
)


def _result(device: Any) -> bytes:
    """Computes something of each kind with little memory."""
    values = [step(device, 256) for step in (_train, _functions, _graph)]
    arrays = [chainer.as_array(v) for v in (values[0], values[1], *values[2])]
    return b''.join(chainer.get_device('@numpy').send(array).tobytes() for array in arrays)


def case(rng: random.Random) -> dict[str, int]:
    """Uses more and more memory until there is none, again and again."""
    device = chainer.get_device(
        rng.choice(['@numpy', 'native:0'] if chainerx.is_available() else ['@numpy'])
    )
    device.use()
    for step in STEPS:
        step(device, 1024)  # loads what is loaded on first use, and starts threads
    # OpenBLAS in NumPy ends the process if it gets no memory for its buffer.
    np.ones((500, 500)).dot(np.ones((500, 500)))
    expected = _result(device)
    more = rng.choice([8, 32, 100]) << 20
    print(f'{device}, {more >> 20} MiB', flush=True)
    limit_memory(more)
    counts = {f'steps on {device.name}': STEPS_PER_CASE, 'out of memory': 0}
    for _ in range(STEPS_PER_CASE):
        step, n, used = rng.choice(STEPS), rng.choice(SIZES), rng.choice([0, rng.randrange(more)])
        print(f'{step.__name__} of {n} while {used} bytes are in use', flush=True)
        try:
            held = bytes(used)
            step(device, n)
        except MemoryError:
            counts['out of memory'] += 1
        held = b''
        gc.collect()
    limit_memory(1 << 40)
    del held
    if _result(device) != expected:
        raise Finding('another result after the lack of memory')
    return counts
