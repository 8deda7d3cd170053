"""The bits of results on any number of threads."""

import hashlib
import itertools
import json
import pathlib

import numpy as np
import pytest
from helpers.programs import run_python

import chainerx

if not chainerx.is_available():
    pytest.skip('ChainerX is not built', allow_module_level=True)

*_, HAS_ONE_ORDER = chainerx._core._get_blas_core()

# Rows, columns and summands around the sizes at which kernels and grids of blocks change
SHAPES = [
    (32, 64, 1000),
    (100, 32, 784),
    (48, 64, 300),
    (65, 10, 1000),
    (8, 300, 512),
    (128, 16, 1000),
    (17, 128, 1000),
    (200, 300, 512),
    (128, 300, 64),
    (93, 340, 89),
    (1201, 105, 33),
    (100, 1000, 784),
    (1000, 10, 1000),
    (256, 256, 256),
]


def digests(dtype):
    """Digests of large results and their gradients, by name."""
    rng = np.random.default_rng(0)

    def array(*shape):
        return chainerx.array(rng.standard_normal(shape).astype(dtype)).require_grad()

    found = {}

    def add(name, function, *inputs):
        results = function(*inputs)
        results = results if isinstance(results, (tuple, list)) else [results]
        sum((y * y).sum() for y in results).backward()
        parts = [*results, *(x.grad for x in inputs)]
        data = b''.join(chainerx.to_numpy(part.as_grad_stopped()).tobytes() for part in parts)
        found[name] = hashlib.md5(data).hexdigest()

    for (m, n, k), a, b in itertools.product(SHAPES, 'nt', 'nt'):
        add(
            f'{m} {n} {k} {a}{b}',
            lambda x, y, a=a, b=b: chainerx.dot(x.T if a == 't' else x, y.T if b == 't' else y),
            array(*((k, m) if a == 't' else (m, k))),
            array(*((n, k) if b == 't' else (k, n))),
        )
    add('matmul', chainerx.matmul, array(3, 100, 300), array(3, 300, 150))
    add('linear', chainerx.linear, array(100, 784), array(300, 784), array(300))
    conv = array(8, 16, 33, 33), array(24, 16, 3, 3), array(24)
    add('conv', lambda x, w, b: chainerx.conv(x, w, b, pad=1), *conv)
    deep = array(8, 24, 33, 33), array(24, 16, 3, 3)
    add('conv_transpose', lambda x, w: chainerx.conv_transpose(x, w, stride=2), *deep)
    for channels in 1, 16:
        add(f'conv 1d {channels}', chainerx.conv, array(8, channels, 999), array(8, channels, 5))
    for pool in chainerx.max_pool, chainerx.average_pool:
        add(pool.__name__, lambda x, f=pool: f(x, 3, 2), array(8, 16, 65, 65))
    for function in chainerx.sum, chainerx.mean, chainerx.logsumexp:
        for axis in None, 0, 1:
            add(
                f'{function.__name__} {axis}',
                lambda x, f=function, i=axis: f(x, i),
                array(999, 501),
            )
    for function in chainerx.softmax, chainerx.log_softmax:
        add(function.__name__, lambda x, f=function: f(x, axis=1), array(999, 501))
    add('cumsum', chainerx.cumsum, array(300000))
    statistics = [chainerx.zeros(200, dtype), chainerx.ones(200, dtype)]
    normalized = array(64, 200), array(200), array(200)
    add('batch_norm', lambda *xs: chainerx.batch_norm(*xs, *statistics), *normalized)
    add('layer_norm', chainerx.layer_norm, array(999, 200), array(200), array(200))
    query = array(2, 4, 100, 32), array(2, 4, 100, 32), array(2, 4, 100, 32)
    add('attention', chainerx.scaled_dot_product_attention, *query)
    add('lstm', chainerx.lstm, array(99, 200), array(99, 800))
    return found


PROGRAM = 'import json, test_reproducible as t; print(json.dumps(t.digests({!r})))'


@pytest.mark.parametrize(
    ('dtype', 'reproducible'), [('float32', ''), ('float32', '1'), ('float64', '1')]
)
def test_threads_change_no_bit(dtype, reproducible):
    if not reproducible and not HAS_ONE_ORDER:
        pytest.skip('the kernels of OpenBLAS differ at the edges of blocks')
    results = [
        json.loads(
            run_python(
                PROGRAM.format(dtype),
                cwd=pathlib.Path(__file__).parent,
                CHAINERX_NUM_THREADS=str(n),
                CHAINERX_REPRODUCIBLE=reproducible,
            ).stdout
        )
        for n in (1, 3, 8)
    ]
    for other in results[1:]:
        assert [name for name in other if other[name] != results[0][name]] == []
