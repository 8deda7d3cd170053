"""chainerx.linalg against NumPy, with first and second gradients."""
import numpy as np
import pytest

import chainerx
from chainerx import linalg


def _matrix(m, n, dtype='float64', seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, (m, n)).astype(dtype) + 2 * np.eye(m, n, dtype=dtype)


def _symmetric(n, dtype='float64'):
    a = _matrix(n, n, dtype)
    return (a @ a.T + np.diag(np.arange(n))).astype(dtype)


def _signs(u):
    """Singular and eigenvectors are unique up to their signs."""
    return abs(u)


CASES = {
    'inv': (lambda m, a: m.inv(a), [_matrix(3, 3)]),
    'solve vector': (lambda m, a, b: m.solve(a, b), [_matrix(3, 3), np.arange(3.)]),
    'solve matrix': (lambda m, a, b: m.solve(a, b), [_matrix(3, 3), _matrix(3, 2)]),
    'pinv tall': (lambda m, a: m.pinv(a), [_matrix(4, 3)]),
    'pinv wide': (lambda m, a: m.pinv(a), [_matrix(2, 3)]),
    'cholesky': (lambda m, a: m.cholesky(a), [_symmetric(3)]),
    'eigvalsh': (lambda m, a: m.eigvalsh(a), [_symmetric(3)]),
    'eigvalsh upper': (lambda m, a: m.eigvalsh(a, 'U'), [_symmetric(3)]),
    'eigh': (lambda m, a: tuple(map(_signs, m.eigh(a))), [_symmetric(3)]),
    'svd': (lambda m, a: tuple(map(_signs, m.svd(a, full_matrices=False))), [_matrix(3, 3)]),
    'svd tall': (lambda m, a: tuple(map(_signs, m.svd(a, full_matrices=False))), [_matrix(4, 3)]),
    'svd wide': (lambda m, a: tuple(map(_signs, m.svd(a, full_matrices=False))), [_matrix(2, 3)]),
    'svd values': (lambda m, a: m.svd(a, compute_uv=False), [_matrix(4, 3)]),
    'qr': (lambda m, a: tuple(map(_signs, m.qr(a))), [_matrix(3, 3)]),
    'qr tall': (lambda m, a: tuple(map(_signs, m.qr(a))), [_matrix(4, 3)]),
}
SYMMETRIC = ('cholesky', 'eigvalsh', 'eigvalsh upper', 'eigh')


def _tuple(ys):
    return ys if isinstance(ys, tuple) else (ys,)


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('device', ['native:0', 'native:1'])
def test_values(name, dtype, device):
    f, inputs = CASES[name]
    inputs = [a.astype(dtype) for a in inputs]
    expected = _tuple(f(np.linalg, *inputs))
    for layout in (lambda a: a, lambda a: np.ascontiguousarray(a.T).T):
        actual = _tuple(f(linalg, *[chainerx.array(layout(a), device=device) for a in inputs]))
        assert len(actual) == len(expected)
        for y, e in zip(actual, expected):
            assert y.dtype == dtype and y.device.name == device
            np.testing.assert_allclose(chainerx.to_numpy(y), e, *[(1e-4, 1e-4), (1e-9, 1e-9)][dtype == 'float64'])


@pytest.mark.parametrize('name', CASES)
def test_gradients(name):
    f, inputs = CASES[name]
    rng = np.random.RandomState(1)

    def g(xs):
        xs = list(xs)
        if name in SYMMETRIC:
            xs[0] = (xs[0] + xs[0].T) * 0.5
        return _tuple(f(linalg, *xs))

    def draw(a):
        return chainerx.array(rng.uniform(-1, 1, a.shape))

    xs = [chainerx.array(a).require_grad() for a in inputs]
    gys = [draw(y).require_grad() for y in g(xs)]
    eps = [chainerx.full_like(x, 1e-5) for x in xs]
    chainerx.check_backward(g, xs, gys, eps, atol=1e-4, rtol=1e-4)
    ggxs = [draw(x) for x in xs]
    eps += [chainerx.full_like(gy, 1e-5) for gy in gys]
    chainerx.check_double_backward(g, xs, gys, ggxs, eps, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize('mode', ['r', 'complete'])
def test_qr_modes(mode):
    a = _matrix(4, 3)
    actual, expected = linalg.qr(chainerx.array(a), mode), np.linalg.qr(a, mode)
    for y, e in zip(_tuple(actual), (expected,) if mode == 'r' else expected):
        np.testing.assert_allclose(chainerx.to_numpy(y), e)


def test_svd_full_matrices():
    a = _matrix(4, 3)
    assert [y.shape for y in linalg.svd(chainerx.array(a))] == [(4, 4), (3,), (3, 3)]


@pytest.mark.parametrize('f', [linalg.inv, linalg.cholesky, linalg.eigh, linalg.eigvalsh,
                               lambda a: linalg.solve(a, a)])
def test_not_square(f):
    for shape in ((2, 3), (2,), (2, 2, 3)):
        with pytest.raises(chainerx.DimensionError, match=r'\(2'):
            f(chainerx.ones(shape, 'float32'))


@pytest.mark.parametrize('f', [linalg.inv, linalg.pinv, linalg.svd, linalg.qr, linalg.cholesky,
                               linalg.eigh])
def test_bad_arguments(f):
    with pytest.raises(chainerx.DtypeError):
        f(chainerx.ones((2, 2), 'int32'))
    with pytest.raises(TypeError):
        f(np.ones((2, 2)))


def test_failures():
    singular = chainerx.zeros((2, 2), 'float64')
    for f in (linalg.inv, linalg.cholesky, lambda a: linalg.solve(a, a)):
        with pytest.raises(chainerx.ChainerxError):
            f(singular)
    with pytest.raises(ValueError):
        linalg.qr(singular, 'x')
    with pytest.raises(ValueError):
        linalg.eigh(singular, 'X')
    with pytest.raises(chainerx.DimensionError):
        linalg.solve(chainerx.eye(2), chainerx.ones(3, 'float64'))
    with pytest.raises(chainerx.ChainerxError, match='svd'):
        a = chainerx.array(_matrix(3, 2)).require_grad()
        linalg.svd(a)[1].sum().backward()
