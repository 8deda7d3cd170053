"""Fused steps of optimizers, which change arrays in place, against their formulas."""

import numpy as np
import pytest

import chainerx
from chainerx import _core

DTYPES = 'float16', 'float32', 'float64'
TOL = {'float16': 3e-3, 'float32': 1e-6, 'float64': 1e-14}
INF = float('inf')


def sgd(p, g, lr):
    return [p - lr * g]


def momentum_sgd(p, g, v, lr, momentum):
    v = momentum * v - lr * g
    return p + v, v


def corrected_momentum_sgd(p, g, v, lr, momentum):
    v = momentum * v - g
    return p + lr * v, v


def nesterov_ag(p, g, v, lr, momentum):
    v = momentum * v - lr * g
    return p + momentum * v - lr * g, v


def ada_grad(p, g, h, lr, eps):
    h = h + g * g
    return p - lr * g / (np.sqrt(h) + eps), h


def ada_delta(p, g, msg, msdx, rho, eps):
    msg = rho * msg + (1 - rho) * g * g
    dx = np.sqrt((msdx + eps) / (msg + eps)) * g
    return p - dx, msg, rho * msdx + (1 - rho) * dx * dx


def rmsprop(p, g, ms, lr, alpha, eps, eps_inside_sqrt):
    ms = alpha * ms + (1 - alpha) * g * g
    return p - lr * g / (np.sqrt(ms + eps) if eps_inside_sqrt else np.sqrt(ms) + eps), ms


def rmsprop_graves(p, g, n, mean, delta, lr, alpha, momentum, eps):
    n = alpha * n + (1 - alpha) * g * g
    mean = alpha * mean + (1 - alpha) * g
    delta = momentum * delta - lr * g / np.sqrt(n - mean * mean + eps)
    return p + delta, n, mean, delta


def smorms3(p, g, mem, mean, square, lr, eps):
    r = 1 / (mem + 1)
    mean = (1 - r) * mean + r * g
    square = (1 - r) * square + r * g * g
    x = mean * mean / (square + eps)
    return p - np.minimum(x, lr) * g / (np.sqrt(square) + eps), 1 + mem * (1 - x), mean, square


def adam(p, g, m, v, alpha, rate1, rate2, eps, eta, decay, lower, upper):
    m = m + rate1 * (g - m)
    v = v + rate2 * (g * g - v)
    rate = np.clip(alpha / (np.sqrt(v) + eps), lower, upper)
    return p - eta * (rate * m + decay * p), m, v


def amsgrad(p, g, m, v, vhat, alpha, rate1, rate2, eps, eta, decay, lower, upper):
    m = m + rate1 * (g - m)
    v = v + rate2 * (g * g - v)
    vhat = np.maximum(vhat, v)
    rate = np.clip(alpha / (np.sqrt(vhat) + eps), lower, upper)
    return p - eta * (rate * m + decay * p), m, v, vhat


def msvag(p, g, m, v, lr, rate, fix, rho, eta, decay):
    m = m + rate * (g - m)
    v = v + rate * (g * g - v)
    mean2 = (m / fix) ** 2
    noise = np.maximum(v / fix - mean2, 0) / (1 - rho) if rho < 1 else 0
    return p - eta * (lr * mean2 / (mean2 + rho * noise) * m / fix + decay * p), m, v


CASES = [
    (sgd, 0, [0.5]),
    (momentum_sgd, 1, [0.5, 0.9]),
    (corrected_momentum_sgd, 1, [0.5, 0.9]),
    (nesterov_ag, 1, [0.5, 0.9]),
    (ada_grad, 1, [0.5, 1e-2]),
    (ada_delta, 2, [0.9, 1e-2]),
    (rmsprop, 1, [0.5, 0.9, 0.1, 0]),
    (rmsprop, 1, [0.5, 0.9, 0.1, 1]),
    (rmsprop_graves, 3, [0.1, 0.9, 0.8, 5.0]),
    (smorms3, 3, [0.5, 1e-2]),
    (adam, 2, [0.2, 0.1, 0.01, 1e-3, 1.5, 0.05, -INF, INF]),
    (adam, 2, [0.2, 0.1, 0.01, 1e-3, 1.5, 0.05, 0.2, 0.3]),
    (amsgrad, 3, [0.2, 0.1, 0.01, 1e-3, 1.5, 0.05, -INF, INF]),
    (amsgrad, 3, [0.2, 0.1, 0.01, 1e-3, 1.5, 0.05, 0.2, 0.3]),
    (msvag, 2, [0.5, 0.1, 0.2, 1.0, 1.5, 0.05]),
    (msvag, 2, [0.5, 0.1, 0.2, 0.4, 1.5, 0.05]),
]
all_cases = pytest.mark.parametrize(
    'reference,n_states,scalars', CASES, ids=[f'{c[0].__name__}-{i}' for i, c in enumerate(CASES)]
)


def _values(n, dtype, shape=(3, 4), seed=0):
    rng = np.random.default_rng(seed)
    return [np.asarray(np.abs(rng.normal(size=shape)) + 0.1).astype(dtype) for _ in range(n)]


def _step(reference, columns, scalars):
    arrays = [array for column in columns for array in column]
    getattr(_core, f'_{reference.__name__}_update')(arrays, scalars)


def _check(reference, n_states, scalars, rows, make=chainerx.array):
    """One step on arrays made of the rows of values: parameter, gradient, states."""
    columns = [[make(v) for v in column] for column in zip(*rows)]
    _step(reference, columns, scalars)
    for k, values in enumerate(rows):
        expected = reference(*(v.astype('float64') for v in values), *scalars)
        got = [column[k] for column in columns]
        chainerx.testing.assert_array_equal(got[1], values[1])
        tol = TOL[values[0].dtype.name]
        for x, e in zip([got[0], *got[2:]], expected):
            assert x.dtype == values[0].dtype
            chainerx.testing.assert_allclose(x, e, rtol=tol, atol=tol)


@pytest.mark.parametrize('dtype', DTYPES)
@all_cases
def test_values(reference, n_states, scalars, dtype):
    rows = [
        _values(2 + n_states, dtype, shape, seed)
        for seed, shape in enumerate([(3, 4), (), (0, 2), (5,)])
    ]
    _check(reference, n_states, scalars, rows)


@all_cases
def test_arrays_that_are_not_contiguous(reference, n_states, scalars):
    def make(value):
        return chainerx.array(np.stack([value, value], -1))[..., 1]

    rows = [_values(2 + n_states, 'float32', (4, 3)), _values(2 + n_states, 'float32', (2,))]
    assert not make(rows[0][0]).is_contiguous
    _check(reference, n_states, scalars, rows, make)


@pytest.mark.parametrize('dtype', DTYPES)
def test_many_elements(dtype):
    rows = [_values(4, dtype, (n,), n) for n in (1, 32768, 32769, 7, 100000, 0, 3, *[900] * 80)]
    _check(adam, 2, [0.2, 0.1, 0.01, 1e-3, 1.5, 0.05, -INF, INF], rows)


@pytest.mark.parametrize('n', [3, 300])
def test_parameters_that_share_memory(n):
    # Both steps count, whichever view they are taken through.
    x = chainerx.ones((n, n), 'float64')
    g = chainerx.array(np.arange(n * n).reshape(n, n).astype('float64'))
    _core._sgd_update([x, x.T, x, g, g, g], [0.5])
    g = np.arange(n * n).reshape(n, n)
    chainerx.testing.assert_array_equal(x, 1 - g - 0.5 * g.T)


def test_no_parameters():
    _core._sgd_update([], [0.5])


def test_array_of_a_graph_is_changed_in_place():
    x = chainerx.ones(2).require_grad()
    _core._sgd_update([x, chainerx.ones(2)], [0.5])
    chainerx.testing.assert_array_equal(x.as_grad_stopped(), np.full(2, 0.5, 'float32'))


def test_graph_goes_on_with_the_new_parameters():
    x, w = (chainerx.full(2, v).require_grad() for v in (3.0, 5.0))
    y = x * w
    y.sum().backward()
    chainerx.testing.assert_array_equal(x.grad, np.full(2, 5.0))
    _core._sgd_update([w, w.grad], [1.0])
    (y * 10).sum().backward()
    chainerx.testing.assert_array_equal(w.as_grad_stopped(), np.full(2, 2.0))
    chainerx.testing.assert_array_equal(x.grad, np.full(2, 5.0 + 10 * 2))


@pytest.mark.parametrize(
    'arrays,scalars,error,match',
    [
        ([(2,), (3,)], [1], chainerx.DimensionError, 'shape'),
        ([(2,), (2,), (2,)], [1], chainerx.DimensionError, 'every parameter needs 2 arrays, but 3'),
        ([(2,), (2,)], [1, 2], chainerx.DimensionError, 'expected 1 scalars, not 2'),
        ([(2,), (2,)], [], chainerx.DimensionError, 'expected 1 scalars, not 0'),
        ([(2,), ((2,), 'float64')], [1], chainerx.DtypeError, 'float32 and float64'),
        ([((2,), 'int32'), ((2,), 'int32')], [1], chainerx.DtypeError, 'floating point'),
    ],
)
def test_errors(arrays, scalars, error, match):
    arrays = [
        chainerx.ones(*(a if a and isinstance(a[0], tuple) else (a, 'float32'))) for a in arrays
    ]
    with pytest.raises(error, match=match):
        _core._sgd_update(arrays, scalars)
    for a in arrays:
        chainerx.testing.assert_array_equal(a, np.ones(a.shape, a.dtype))


def test_bad_types():
    with pytest.raises(TypeError, match='arrays'):
        _core._sgd_update([np.ones(2), np.ones(2)], [1])
    with pytest.raises(TypeError, match='scalars'):
        _core._sgd_update([], 'lr')
