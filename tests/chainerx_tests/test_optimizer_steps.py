"""Fused steps of optimizers, which change arrays in place, against their formulas."""
import numpy as np
import pytest

import chainerx
from chainerx import _core

DTYPES = 'float16', 'float32', 'float64'
TOL = {'float16': 2e-3, 'float32': 1e-6, 'float64': 1e-14}


def _arrays(n, dtype):
    rng = np.random.default_rng(0)
    return [np.abs(rng.normal(size=(3, 4))).astype(dtype) for _ in range(n)]


def _check(step, reference, n, dtype):
    values = _arrays(n, dtype)
    xs = [chainerx.array(v) for v in values]
    step(*xs)
    expected = reference(*(v.astype('float64') for v in values))
    for x, e in zip([xs[0], *xs[2:]], expected):
        chainerx.testing.assert_allclose(x, e, rtol=TOL[dtype], atol=TOL[dtype])


@pytest.mark.parametrize('dtype', DTYPES)
def test_sgd_update(dtype):
    _check(lambda p, g: _core._sgd_update(p, g, 0.5), lambda p, g: [p - 0.5 * g], 2, dtype)


@pytest.mark.parametrize('dtype', DTYPES)
def test_momentum_sgd_update(dtype):
    def reference(p, g, v):
        v = 0.9 * v - 0.5 * g
        return p + v, v
    _check(lambda p, g, v: _core._momentum_sgd_update(p, g, v, 0.5, 0.9), reference, 3, dtype)


@pytest.mark.parametrize('dtype', DTYPES)
def test_adam_update(dtype):
    def reference(p, g, m, v):
        m = m + 0.1 * (g - m)
        v = v + 0.01 * (g * g - v)
        return p - 1.5 * (0.2 * m / (np.sqrt(v) + 1e-3) + 0.05 * p), m, v
    _check(lambda p, g, m, v: _core._adam_update(p, g, m, v, 0.2, 0.1, 0.01, 1e-3, 1.5, 0.05),
           reference, 4, dtype)


def test_lists():
    ps = [chainerx.ones(2), chainerx.ones(3)]
    _core._sgd_update(ps, [chainerx.ones(2), chainerx.ones(3)], 1.0)
    for p in ps:
        chainerx.testing.assert_array_equal(p, np.zeros(p.shape))
    with pytest.raises(ValueError, match='lists differ in length: 2 and 1'):
        _core._sgd_update(ps, [chainerx.ones(2)], 1.0)


def test_shapes_that_differ():
    with pytest.raises(chainerx.DimensionError):
        _core._sgd_update(chainerx.ones(2), chainerx.ones(3), 1.0)
