"""Linear algebra beside array_api_strict."""

import numpy as np
import pytest
from chainerx_tests.array_api_tests.common import (
    COMPLEX,
    INEXACT,
    NUMBERS,
    arrays,
    assert_same,
    compare,
)
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import chainerx
from chainerx import array_api as xp

MATRICES = hnp.array_shapes(min_dims=2, max_dims=3, max_side=4)
STACKS = [(3, 3), (2, 4, 4), (1, 1), (0, 2, 2)]


def _random(*shape, dtype='float64', seed=0):
    random = np.random.RandomState(seed)
    x = random.uniform(-1, 1, shape)
    return (x + 1j * random.uniform(-1, 1, shape) if dtype in COMPLEX else x).astype(dtype)


def _positive(shape, dtype):
    x = _random(*shape, dtype=dtype)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1], dtype=dtype)


@given(arrays(NUMBERS, MATRICES, low=-3, high=3))
def test_products(x):
    compare(lambda xp, x: xp.matmul(x, xp.matrix_transpose(x)), x, tolerance=20)
    compare(lambda xp, x: xp.tensordot(x, x, axes=x.ndim), x, tolerance=20)
    compare(lambda xp, x: xp.tensordot(x, x, axes=((0,), (0,))), x, tolerance=20)
    compare(lambda xp, x: xp.vecdot(x, x), x, tolerance=20)
    compare(lambda xp, x: xp.vecdot(x, x, axis=-2), x, tolerance=20)
    compare(lambda xp, x: xp.vecdot(x, x[..., :1, :]), x, tolerance=20)
    compare(
        lambda xp, x: xp.linalg.outer(
            x[..., 0, :][..., 0][:1] if x.ndim > 2 else x[0, :], xp.ones(2, dtype=x.dtype)
        ),
        x,
    )
    compare(lambda xp, x: xp.linalg.diagonal(x, offset=-1), x)
    compare(lambda xp, x: x @ xp.matrix_transpose(x), x, tolerance=20)


@given(arrays(NUMBERS, MATRICES, low=-3, high=3), st.integers(-2, 2))
def test_trace(x, offset):
    compare(lambda xp, x: xp.linalg.trace(x, offset=offset), x, tolerance=20)
    compare(lambda xp, x: xp.linalg.trace(x, offset=offset, dtype=xp.complex64), x, tolerance=20)


@pytest.mark.parametrize('dtype', INEXACT)
@pytest.mark.parametrize('axis', [-1, -2])
def test_cross(dtype, axis):
    shape = (2, 3) if axis == -1 else (3, 2)
    compare(
        lambda xp, a, b: xp.linalg.cross(a, b, axis=axis),
        _random(*shape, dtype=dtype),
        _random(*shape, seed=1, dtype=dtype),
    )


@pytest.mark.parametrize('dtype', INEXACT)
@pytest.mark.parametrize('shape', STACKS)
def test_of_square_matrices(shape, dtype):
    x = _positive(shape, dtype)
    tolerance = 100
    for name in ('det', 'eigvalsh', 'inv', 'slogdet', 'cholesky'):
        compare(lambda xp, x, name=name: getattr(xp.linalg, name)(x), x, tolerance=tolerance)
    compare(lambda xp, x: xp.linalg.cholesky(x, upper=True), x, tolerance=tolerance)
    compare(lambda xp, x: xp.linalg.eigh(x)[0], x, tolerance=tolerance)
    compare(lambda xp, x: xp.linalg.solve(x, x[..., :1]), x, tolerance=tolerance)
    compare(
        lambda xp, x: xp.linalg.solve(x, xp.ones(x.shape[-1], dtype=x.dtype)),
        x,
        tolerance=tolerance,
    )
    for n in (-2, 0, 1, 2, 5):
        compare(lambda xp, x, n=n: xp.linalg.matrix_power(x, n), x, tolerance=1000)
    result = xp.linalg.eigh(xp.asarray(x))
    assert_same(
        (result.eigenvectors * result.eigenvalues[..., None, :]) @ xp.conj(result.eigenvectors.mT),
        x,
        100,
    )
    assert xp.linalg.slogdet(xp.asarray(x))._fields == ('sign', 'logabsdet')


@pytest.mark.parametrize('dtype', INEXACT)
@pytest.mark.parametrize('shape', [(3, 2), (2, 3), (2, 4, 3), (0, 2, 3)])
def test_of_matrices(shape, dtype):
    x = _random(*shape, dtype=dtype)
    compare(lambda xp, x: xp.linalg.svdvals(x), x, tolerance=100)
    compare(lambda xp, x: xp.linalg.pinv(x), x, tolerance=1000)
    compare(lambda xp, x: xp.linalg.pinv(x, rtol=0.5), x, tolerance=1000)
    compare(
        lambda xp, x: xp.linalg.pinv(x, rtol=xp.full(x.shape[:-2], 0.5, dtype=xp.abs(x).dtype)),
        x,
        tolerance=1000,
    )
    compare(lambda xp, x: xp.linalg.matrix_rank(x), x)
    compare(lambda xp, x: xp.linalg.matrix_rank(x, rtol=0.6), x)
    compare(
        lambda xp, x: xp.linalg.matrix_rank(
            x, rtol=xp.full(x.shape[:-2], 0.6, dtype=xp.abs(x).dtype)
        ),
        x,
    )
    for full in (True, False):
        result = xp.linalg.svd(xp.asarray(x), full_matrices=full)
        k = min(shape[-2:])
        assert_same((result.U[..., :k] * result.S[..., None, :]) @ result.Vh[..., :k, :], x, 100)
        compare(lambda xp, x, full=full: [a.shape for a in xp.linalg.svd(x, full_matrices=full)], x)
    for mode in ('reduced', 'complete'):
        result = xp.linalg.qr(xp.asarray(x), mode=mode)
        assert_same(result.Q @ result.R, x, 100)
        compare(lambda xp, x, mode=mode: [a.shape for a in xp.linalg.qr(x, mode=mode)], x)


@pytest.mark.parametrize('dtype', ['float64', 'complex128'])
@pytest.mark.parametrize('keepdims', [False, True])
@pytest.mark.parametrize('order', ['fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize('shape', [(3, 2), (2, 3, 3)])
def test_matrix_norm(shape, order, keepdims, dtype):
    compare(
        lambda xp, x: xp.linalg.matrix_norm(x, ord=order, keepdims=keepdims),
        _random(*shape, dtype=dtype),
        tolerance=100,
    )


@pytest.mark.parametrize('dtype', ['float64', 'complex128'])
@pytest.mark.parametrize('keepdims', [False, True])
@pytest.mark.parametrize('order', [1, 2, 3, -1, 0.5, 0, np.inf, -np.inf])
@pytest.mark.parametrize('axis', [None, 0, -1, (0, 2), (1, 0), (0, 1, 2)])
def test_vector_norm(axis, order, keepdims, dtype):
    options = {'axis': axis, 'ord': order, 'keepdims': keepdims}
    compare(
        lambda xp, x: xp.linalg.vector_norm(x, **options),
        _random(2, 3, 4, dtype=dtype),
        tolerance=100,
    )


@pytest.mark.parametrize('axis', [None, 0, 1, (0, 1)])
def test_vector_norm_of_nothing(axis):
    compare(lambda xp: xp.linalg.vector_norm(xp.ones((0, 2)), axis=axis))
    compare(lambda xp: xp.linalg.vector_norm(xp.asarray(-2.0)))


@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (
            chainerx.DimensionError,
            'matrix_power',
            lambda: xp.linalg.matrix_power(xp.ones((2, 3)), 2),
        ),
        (chainerx.DimensionError, 'matrix_power', lambda: xp.linalg.matrix_power(xp.ones(2), 2)),
        (ValueError, "'raw'", lambda: xp.linalg.qr(xp.ones((2, 2)), mode='raw')),
        (
            chainerx.DimensionError,
            'vecdot|lengths|matmul',
            lambda: xp.vecdot(xp.ones(2), xp.ones(3)),
        ),
        (chainerx.DimensionError, 'diagonal|axis', lambda: xp.linalg.diagonal(xp.ones(2))),
        (
            chainerx.DimensionError,
            r'outer: x2 must have one dimension, has shape \(2, 2\)',
            lambda: xp.linalg.outer(xp.ones(2), xp.ones((2, 2))),
        ),
        (
            chainerx.DimensionError,
            r'outer: x1 must have one dimension, has shape \(\)',
            lambda: xp.linalg.outer(xp.ones(()), xp.ones(2)),
        ),
    ],
)
def test_wrong_calls(error, match, call):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize(
    'call',
    [
        lambda x: xp.linalg.matrix_power(x, 3),
        lambda x: xp.linalg.matrix_power(x, -1),
        lambda x: xp.linalg.vector_norm(x, axis=(0, 1)),
        lambda x: xp.linalg.trace(x, offset=1),
        lambda x: xp.linalg.pinv(x, rtol=xp.asarray(1e-3)),
        lambda x: xp.linalg.cholesky(x @ x.mT + 1 * xp.eye(3), upper=True),
        lambda x: xp.cumulative_sum(x, axis=1, include_initial=True),
        lambda x: xp.cumulative_prod(x, axis=1, include_initial=True),
        lambda x: xp.unstack(x, axis=1)[1],
        lambda x: xp.var(x, axis=0, correction=1),
        lambda x: xp.std(x, correction=0.5),
        lambda x: xp.sort(x, axis=0, descending=True),
        lambda x: xp.diff(x, axis=0, prepend=x[:1] * x[1:2], append=x[2:]),
        lambda x: xp.unique_values(x),
        lambda x: xp.reshape(x, (9,), copy=True),
        lambda x: xp.clip(x, 0, 1.1),
        lambda x: xp.sum(x, axis=0, dtype=xp.float64) * xp.prod(x, axis=1),
    ],
)
def test_gradients(call):
    x = chainerx.array(_positive((3, 3), 'float64') + np.arange(9).reshape(3, 3) / 20)
    y = call(x)
    gy = chainerx.array(_random(*y.shape, seed=1))
    ggx = chainerx.array(_random(3, 3, seed=2))
    eps = chainerx.full_like(x, 1e-4)

    def function(inputs):
        return [call(inputs[0])]

    chainerx.check_backward(function, [x.require_grad()], [gy], [eps], 1e-5, 1e-4)
    chainerx.check_double_backward(
        function,
        [x.require_grad()],
        [gy.require_grad()],
        [ggx],
        [eps, chainerx.full_like(gy, 1e-4)],
        1e-4,
        1e-3,
    )
