"""chainerx.linalg of complex matrices: values against NumPy, first and second gradients against differences.

Factors whose phases are arbitrary are tested by what does not depend on them.
"""

import numpy as np
import pytest
from chainerx_tests.complex_gradients import (
    COMPLEX,
    check_gradients,
    check_second_gradients,
    make,
    to_numpy,
)

import chainerx
from chainerx import linalg

TOLERANCE = {'complex64': 2e-4, 'complex128': 1e-11}


def _matrix(*shape, seed=0):
    return make(*shape, seed=seed) + 2 * np.eye(*shape[-2:])


def _h(np, x):
    return np.conj(np.swapaxes(x, -1, -2))


def _hermitian(np, x):
    return x + _h(np, x)


def _positive(np, x):
    return x @ _h(np, x) + np.eye(x.shape[-1], dtype=x.dtype)


def _spectral(np, x):
    w, v = np.linalg.eigh(_hermitian(np, x))
    return (v * (w + np.arange(x.shape[-1]))) @ _h(np, v)


def _inverse_sqrt(np, x):
    a = _positive(np, x)
    if np is chainerx:
        return chainerx._core._inverse_sqrt(a)
    w, v = np.linalg.eigh(a)
    return (v / np.sqrt(w)) @ _h(np, v)


def _eigenvectors(np, x):
    """Elements of the projections to the eigenvectors."""
    v = np.linalg.eigh(_hermitian(np, x))[1]
    return v * np.conj(v[0])


def _singular(np, x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * (np.arange(s.shape[-1]) + s * s)) @ vh


def _left(np, x):
    u = np.linalg.svd(x, full_matrices=False)[0]
    return u * np.conj(u[0])


def _right(np, x):
    vh = np.linalg.svd(x, full_matrices=False)[2]
    return vh * np.conj(vh[:, :1])


SQUARE, TALL, WIDE, STACK = _matrix(3, 3), _matrix(4, 2), _matrix(2, 3), _matrix(2, 2, 2)
CASES = {
    'solve': (lambda np, a, b: np.linalg.solve(a, b), SQUARE, make(3, 2, seed=1)),
    'solve_vector': (lambda np, a, b: np.linalg.solve(a, b), SQUARE, make(3, seed=1)),
    'solve_stack': (lambda np, a, b: np.linalg.solve(a, b), STACK, make(2, 2, 1, seed=1)),
    'inv': (lambda np, a: np.linalg.inv(a), SQUARE),
    'inv_stack': (lambda np, a: np.linalg.inv(a), STACK),
    'det': (lambda np, a: np.linalg.det(a), SQUARE),
    'det_stack': (lambda np, a: np.linalg.det(a), STACK),
    'sign': (lambda np, a: np.linalg.slogdet(a)[0], SQUARE),
    'logdet': (lambda np, a: np.linalg.slogdet(a)[1], STACK),
    'cholesky': (lambda np, a: np.linalg.cholesky(_positive(np, a)), SQUARE),
    'cholesky_stack': (lambda np, a: np.linalg.cholesky(_positive(np, a)), STACK),
    'eigvalsh': (lambda np, a: np.linalg.eigvalsh(_hermitian(np, a)), SQUARE),
    'inverse_sqrt': (_inverse_sqrt, SQUARE),
    'eigh': (_spectral, SQUARE),
    'eigh_stack': (_spectral, STACK),
    'eigenvectors': (_eigenvectors, SQUARE),
    'svdvals': (lambda np, a: np.linalg.svd(a, compute_uv=False), WIDE),
    'svd': (_singular, SQUARE),
    'svd_tall': (_singular, TALL),
    'svd_wide': (_singular, WIDE),
    'svd_stack': (_singular, STACK),
    'svd_left': (_left, TALL),
    'svd_right': (_right, WIDE),
    'pinv': (lambda np, a: np.linalg.pinv(a), SQUARE),
    'pinv_tall': (lambda np, a: np.linalg.pinv(a), TALL),
    'pinv_wide': (lambda np, a: np.linalg.pinv(a), WIDE),
    'q': (lambda np, a: np.linalg.qr(a)[0], TALL),
    'r': (lambda np, a: np.linalg.qr(a, 'r'), TALL),
    'q_square': (lambda np, a: np.linalg.qr(a)[0], SQUARE),
    'r_square': (lambda np, a: np.linalg.qr(a)[1], SQUARE),
    'q_complete': (lambda np, a: np.linalg.qr(a, 'complete')[0], SQUARE),
    'r_wide': (lambda np, a: np.linalg.qr(a)[1], WIDE),
    'nuclear': (lambda np, a: np.linalg.norm(a, 'nuc'), TALL),
    'spectral': (lambda np, a: np.linalg.norm(a, 2), WIDE),
    'smallest': (lambda np, a: np.linalg.norm(a, -2), SQUARE),
    'norm_of_columns': (lambda np, a: np.linalg.norm(a, 1), SQUARE),
    'norm_of_rows': (lambda np, a: np.linalg.norm(a, np.inf), SQUARE),
    'frobenius': (lambda np, a: np.linalg.norm(a, 'fro'), TALL),
    'power': (lambda np, a: np.linalg.matrix_power(a, 3), SQUARE),
    'inverse_power': (lambda np, a: np.linalg.matrix_power(a, -2), SQUARE),
}


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize('name', CASES)
def test_values(name, dtype):
    f, *arrays = CASES[name]
    arrays = [a.astype(dtype) for a in arrays]
    expected = np.asarray(f(np, *arrays))
    limit = TOLERANCE[dtype]
    strided = [chainerx.array(np.repeat(a, 2, -1))[..., ::2] for a in arrays]
    for xs in [chainerx.array(a) for a in arrays], strided:
        y = f(chainerx, *xs)
        assert y.dtype == (
            dtype if np.iscomplexobj(expected) else np.dtype(dtype).type().real.dtype
        )
        np.testing.assert_allclose(to_numpy(y), expected, rtol=limit, atol=limit)


@pytest.mark.parametrize('name', CASES)
def test_gradients(name):
    f, *arrays = CASES[name]
    check_gradients(f, arrays)


@pytest.mark.parametrize('name', CASES)
def test_second_gradients(name):
    f, *arrays = CASES[name]
    check_second_gradients(f, arrays)


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize('n', [1, 5, 33, 70])
def test_products_of_factors(n, dtype):
    """Below and above the size from which LAPACK factorizes."""
    limit = n * TOLERANCE[dtype]
    a = _matrix(n, n).astype(dtype)
    s = _positive(np, a).astype(dtype)
    x, hermitian = chainerx.array(a), chainerx.array(s)
    u, d, vh = linalg.svd(x)
    w, v = linalg.eigh(hermitian)
    q, r = linalg.qr(x)
    low = linalg.cholesky(hermitian)
    h = lambda m: chainerx.conj(m.T)  # noqa: E731
    eye = np.eye(n)
    for product, wanted in [
        ((u * d) @ vh, a),
        (h(u) @ u, eye),
        (vh @ h(vh), eye),
        (q @ r, a),
        (h(q) @ q, eye),
        ((v * w) @ h(v), s),
        (h(v) @ v, eye),
        (low @ h(low), s),
        (linalg.inv(x) @ x, eye),
        (x @ linalg.solve(x, hermitian), s),
        (x @ linalg.pinv(x), eye),
    ]:
        error = np.abs(to_numpy(product) - wanted).max()
        assert error <= limit * np.abs(wanted).max()
    for y in d, w, linalg.slogdet(x)[1]:
        assert y.dtype == np.dtype(dtype).type().real.dtype
    assert to_numpy(low == chainerx.tril(low)).all()
    assert not to_numpy(chainerx.imag(chainerx.diagonal(r))).any()
    for got, wanted in zip(linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        np.testing.assert_allclose(to_numpy(got), wanted, rtol=limit, atol=limit)


@pytest.mark.parametrize('mode', ['reduced', 'complete', 'r', 'raw'])
@pytest.mark.parametrize('shape', [(4, 3), (3, 3), (2, 4), (40, 35), (0, 2), (2, 0), (2, 4, 3)])
def test_qr_modes(mode, shape):
    a = _matrix(*shape)
    actual = linalg.qr(chainerx.array(a), mode)
    expected = np.linalg.qr(a, mode)
    for y, e in zip(
        [actual] if mode == 'r' else actual, [expected] if mode == 'r' else expected, strict=True
    ):
        np.testing.assert_allclose(to_numpy(y), e, rtol=1e-10, atol=1e-12)


def test_svd_of_all_sides():
    for shape in (4, 3), (3, 5), (2, 3, 2):
        a = _matrix(*shape)
        u, s, vh = (to_numpy(y) for y in linalg.svd(chainerx.array(a)))
        k = min(shape[-2:])
        np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, atol=1e-12)
        for m in u, vh:
            np.testing.assert_allclose(m @ _h(np, m), np.eye(m.shape[-1]) + 0 * m, atol=1e-12)


@pytest.mark.parametrize('uplo', 'LU')
def test_one_triangle_is_read(uplo):
    a = _hermitian(np, make(4, 4))
    half = np.tril(a) if uplo == 'L' else np.triu(a)
    np.testing.assert_allclose(
        to_numpy(linalg.eigvalsh(chainerx.array(half), uplo)), np.linalg.eigvalsh(a), atol=1e-12
    )
    positive = _positive(np, a)
    np.testing.assert_allclose(
        to_numpy(linalg.cholesky(chainerx.array(np.tril(positive)))),
        np.linalg.cholesky(positive),
        atol=1e-12,
    )


@pytest.mark.parametrize('dtype', COMPLEX)
def test_ranks_and_cutoffs(dtype):
    a = np.outer([1, 2j, 3], [4, 5 - 1j]).astype(dtype)
    x = chainerx.array(a)
    assert int(linalg.matrix_rank(x)) == 1
    cutoff = 1e-5
    np.testing.assert_allclose(
        to_numpy(linalg.pinv(x, cutoff)), np.linalg.pinv(a, cutoff), atol=1e-6
    )
    xp = chainerx.array_api
    real = np.dtype(dtype).type().real.dtype
    np.testing.assert_allclose(
        to_numpy(xp.linalg.pinv(x, rtol=xp.asarray(cutoff, dtype=real))),
        np.linalg.pinv(a, cutoff),
        atol=1e-6,
    )
    positive = _positive(np, make(3, 3)).astype(dtype)
    upper = to_numpy(xp.linalg.cholesky(chainerx.array(positive), upper=True))
    np.testing.assert_allclose(_h(np, upper) @ upper, positive, rtol=1e-5)


@pytest.mark.parametrize('name', 'inv cholesky eigh eigvalsh det slogdet pinv svd qr'.split())
@pytest.mark.parametrize('shape', [(0, 0), (0, 2, 2), (3, 0, 0)], ids=str)
def test_empty(name, shape):
    a = np.zeros(shape, complex)
    a[...] = np.eye(*shape[-2:])
    x = chainerx.array(a).require_grad()
    actual, expected = getattr(linalg, name)(x), getattr(np.linalg, name)(a)
    actual, expected = (y if isinstance(y, tuple) else (y,) for y in (actual, expected))
    for y, e in zip(actual, expected, strict=True):
        assert y.shape == np.shape(e) and y.dtype == np.asarray(e).dtype
        np.testing.assert_array_equal(to_numpy(y), e)
    # There is nothing to reduce to a real number but the last result.
    chainerx.backward(chainerx.absolute(actual[-1]).sum())
    assert x.grad.shape == shape


def test_singular_matrices():
    zero = chainerx.zeros((2, 2), 'complex128')
    assert complex(linalg.det(zero)) == 0
    sign, logarithm = linalg.slogdet(zero)
    assert complex(sign) == 0 and float(logarithm) == -np.inf
    for f in linalg.inv, linalg.cholesky, lambda a: linalg.solve(a, a):
        with pytest.raises(chainerx.ChainerxError, match='(?i)singular|positive'):
            f(zero)


@pytest.mark.parametrize('value', [np.nan, np.inf, complex(0, np.nan), complex(1, -np.inf)])
@pytest.mark.parametrize('n', [3, 40])
def test_elements_that_are_not_finite(value, n):
    a = _positive(np, make(n, n))
    a[1, 0] = value
    a[0, 1] = np.conj(value)
    x = chainerx.array(a)
    for f in linalg.svd, linalg.pinv, linalg.eigh, linalg.eigvalsh:
        with pytest.raises(chainerx.ChainerxError, match='finite'):
            f(x)
    for f in linalg.inv, linalg.qr, linalg.det, linalg.slogdet:
        f(x)


def test_wrong_calls():
    x = chainerx.ones((2, 3), 'complex64')
    for f in linalg.inv, linalg.cholesky, linalg.eigh, linalg.det, linalg.slogdet:
        with pytest.raises(chainerx.DimensionError, match=r'\(2, 3\)'):
            f(x)
    with pytest.raises(chainerx.DtypeError, match='complex128, not int32'):
        linalg.solve(chainerx.eye(2, dtype='complex64'), chainerx.ones(2, 'int32'))
    a = chainerx.array(_matrix(3, 2)).require_grad()
    with pytest.raises(chainerx.ChainerxError, match='svd'):
        chainerx.linalg.svd(a)[1].sum().backward()


@pytest.mark.parametrize('real', ['float32', 'float64'])
def test_real_and_complex_operands(real):
    a, b = np.eye(2) * 2, make(2, 3)
    x, z = chainerx.array(a.astype(real)).require_grad(), chainerx.array(b).require_grad()
    for y in linalg.solve(x, z), x @ z:
        assert y.dtype == 'complex128'
        chainerx.absolute(y).sum().backward()
        assert x.grad.dtype == real and z.grad.dtype == 'complex128'
        x.cleargrad()
        z.cleargrad()
    np.testing.assert_allclose(to_numpy(linalg.solve(x, z)), b / 2)


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize(
    ('left', 'right'),
    [
        ((1, 1), (1, 1)),
        ((1, 9), (9, 1)),
        ((1, 300), (300, 7)),
        ((200, 3), (3, 1)),
        ((7, 8), (8, 9)),
        ((130, 70), (70, 90)),
        ((3, 2, 4), (4, 5)),
        ((2, 1, 9, 8), (3, 8, 7)),
        ((2, 40, 30), (2, 30, 20)),
        ((2, 0), (0, 3)),
        ((0, 2), (2, 3)),
    ],
)
def test_products(left, right, dtype):
    a, b = make(*left).astype(dtype), make(*right, seed=1).astype(dtype)
    limit = TOLERANCE[dtype]
    x, y = chainerx.array(a), chainerx.array(b)
    for z in (
        x @ y,
        chainerx.array(np.swapaxes(a, -1, -2)).swapaxes(-1, -2)
        @ chainerx.array(np.swapaxes(b, -1, -2)).swapaxes(-1, -2),
        chainerx.array(np.repeat(a, 2, -1))[..., ::2] @ chainerx.array(b[..., ::-1])[..., ::-1],
    ):
        assert z.dtype == dtype
        np.testing.assert_allclose(to_numpy(z), a @ b, rtol=limit, atol=limit)
