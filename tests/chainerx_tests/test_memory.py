"""Training does not make the process grow."""

import os

import pytest
from helpers.programs import run_python

PROLOGUE = """
import chainerx
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


def resident_kib():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * {}


x = np.random.default_rng(0).normal(size=(32, 20)).astype('f')
t = np.arange(32) % 10
""".format(os.sysconf('SC_PAGE_SIZE') // 1024)

BARE = """
params = [chainerx.array(np.random.randn(*s), 'float32').require_grad() for s in ((50, 20), (50,), (10, 50), (10,))]
x, t = chainerx.array(x), chainerx.array(t)

def step():
    for p in params:
        p.cleargrad()
    h = chainerx.relu(chainerx.linear(x, *params[:2]))
    loss = chainerx.softmax_cross_entropy(chainerx.linear(h, *params[2:]), t).mean()
    loss.backward()
    with chainerx.no_backprop_mode():
        for p in params:
            p -= p.grad * 0.01
"""

# A penalty on the gradient, in a graph of each step's own.
DOUBLE = """
w = chainerx.array(np.random.randn(10, 20), 'float32')
x = chainerx.array(x)

def step():
    with chainerx.backprop_scope('step') as graph:
        w.require_grad(graph)
        y = chainerx.tanh(chainerx.linear(x, w)).sum()
        g, = chainerx.grad([y], [w], graph, enable_double_backprop=True)
        chainerx.backward((g * g).sum(), graph)
        w.cleargrad(graph)
"""

CHAINER = """
model = L.Classifier(chainer.Sequential(L.Linear(20, 50), F.relu, L.BatchNormalization(50), L.Linear(50, 10)))
model.to_device('native:0')
optimizer = chainer.optimizers.Adam().setup(model)
x, t = chainerx.array(x), chainerx.array(t)

def step():
    optimizer.update(model, x, t)
"""

# Arrays, devices and graphs outlive their context.
CONTEXTS = """
def step():
    context = chainerx.Context()
    device = context.get_device('native:1')
    graph = context.make_backprop_id('step')
    x = chainerx.ones(3, device=device).require_grad(graph)
    y = x * x
    with chainerx.context_scope(context), chainerx.using_device(device), chainerx.no_backprop_mode(context):
        y.backward(graph)
    del context
    y + y, device.backend
"""

EPILOGUE = """
for i in range(10_000):
    step()
    if i == 999:
        resident, live = resident_kib(), chainerx._core._live_array_count()
print(resident_kib() - resident, chainerx._core._live_array_count() - live)
"""


@pytest.mark.slow
@pytest.mark.measures_memory
@pytest.mark.skipif(not os.path.exists('/proc/self/statm'), reason='needs /proc')
@pytest.mark.parametrize(
    'code', [BARE, DOUBLE, CHAINER, CONTEXTS], ids=['bare', 'double', 'chainer', 'contexts']
)
def test_ten_thousand_steps(code):
    result = run_python(PROLOGUE + code + EPILOGUE)
    kib, arrays = map(int, result.stdout.split())
    print(f'growth of resident memory over the last 9,000 steps: {kib} KiB')
    assert arrays == 0
    assert kib < 512


# Products of all filters at once, of a size of its own for each number of channels: 128 MiB together.
CONVOLUTIONS = """
import chainerx
import numpy as np

def resident_mib():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * {} / 2**20

x = chainerx.ones((8, 512, 16, 16), 'float32')
filters = [chainerx.ones((512, 512, 3, 3), 'float32')[:n, :n] for n in range(256, 513, 64)]
copies = [chainerx.array(w) for w in filters]
inputs = [chainerx.array(x[:, :len(w)]) for w in filters]
outputs = [chainerx.ones_like(a) for a in inputs]
del filters
chainerx.get_device('native:0').free_unused_blocks()
before = resident_mib()
for _ in range(2):
    for a, w in zip(inputs, copies):
        chainerx.conv(a, w, pad=1)
kept = resident_mib() - before
chainerx.get_device('native:0').free_unused_blocks()
print(kept, resident_mib() - before)
"""


@pytest.mark.measures_memory
@pytest.mark.skipif(not os.path.exists('/proc/self/statm'), reason='needs /proc')
def test_convolutions_of_many_sizes_share_scratch_memory():
    code = CONVOLUTIONS.format(os.sysconf('SC_PAGE_SIZE'))
    kept, rest = map(float, run_python(code, CHAINERX_NUM_THREADS='1').stdout.split())
    assert kept < 75
    assert rest < 15
