"""chainerx.linalg where values are not unique, matrices are large, empty or singular, or input is bad.

Values and gradients of ordinary matrices are tested from the rows of op_table/factorization.py.
"""

import numpy as np
import pytest

import chainerx
from chainerx import linalg


def _matrix(m, n, dtype='float64', seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, (m, n)).astype(dtype) + 2 * np.eye(
        m, n, dtype=dtype
    )


def _symmetric(n, dtype='float64'):
    a = _matrix(n, n, dtype)
    return (a @ a.T + np.diag(np.arange(n))).astype(dtype)


def _tuple(ys):
    return ys if isinstance(ys, tuple) else (ys,)


@pytest.mark.parametrize('mode', ['reduced', 'complete', 'r', 'raw'])
@pytest.mark.parametrize('shape', [(4, 3), (3, 3), (2, 4), (0, 2), (2, 0)])
def test_qr_modes(mode, shape):
    a = _matrix(*shape)
    actual, expected = linalg.qr(chainerx.array(a), mode), np.linalg.qr(a, mode)
    for y, e in zip(
        _tuple(actual), _tuple(expected) if mode == 'r' else tuple(expected), strict=True
    ):
        np.testing.assert_allclose(chainerx.to_numpy(y), e, rtol=1e-12, atol=1e-14)


def test_svd_full_matrices():
    a = _matrix(4, 3)
    u, s, vt = map(chainerx.to_numpy, linalg.svd(chainerx.array(a)))
    expected_u, expected_s, expected_vt = np.linalg.svd(a)
    # Libraries differ in the sign of each pair of vectors, and in the vectors of the null space.
    signs = np.sign((vt * expected_vt).sum(1))
    rest, expected_rest = u[:, 3:], expected_u[:, 3:]
    for y, e in (
        (s, expected_s),
        (u[:, :3] * signs, expected_u[:, :3]),
        (vt * signs[:, None], expected_vt),
        (rest @ rest.T, expected_rest @ expected_rest.T),
    ):
        np.testing.assert_allclose(y, e, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize('n', [1, 5, 40, 130])
def test_large(n):
    a = chainerx.array(_matrix(n, n) + n * np.eye(n))
    s = chainerx.array(_symmetric(n))
    eye = np.eye(n)
    w, v = linalg.eigh(s)
    u, d, vt = linalg.svd(a)
    q, r = linalg.qr(a)
    low = linalg.cholesky(s)
    for product in (
        linalg.inv(a).dot(a),
        linalg.solve(a, a),
        linalg.pinv(a).dot(a),
        q.T.dot(q),
        u.T.dot(u),
        linalg.inv(s).dot(v * w).dot(v.T),
        linalg.solve(a, q.dot(r)),
        linalg.solve(a, (u * d).dot(vt)),
        linalg.solve(s, low.dot(low.T)),
    ):
        np.testing.assert_allclose(chainerx.to_numpy(product), eye, rtol=1e-7, atol=1e-7)
    assert (low == chainerx.tril(low)).all()
    np.testing.assert_allclose(
        float(linalg.slogdet(a)[1]), np.linalg.slogdet(chainerx.to_numpy(a))[1]
    )


EMPTY = [
    ('solve', (0, 0), (0, 2)),
    ('solve', (2, 2), (2, 0)),
    ('solve', (0, 2, 2), (1, 2, 1)),
    *[
        (name, shape)
        for name in ('inv', 'cholesky', 'eigh', 'eigvalsh', 'det', 'slogdet', 'pinv', 'svd', 'qr')
        for shape in ((0, 0), (0, 2, 2), (3, 0, 0))
    ],
    *[(name, shape) for name in ('pinv', 'svd', 'qr') for shape in ((0, 3), (3, 0), (2, 0, 3))],
]


@pytest.mark.parametrize('name, shapes', [(case[0], case[1:]) for case in EMPTY])
def test_empty(name, shapes):
    arrays = [np.ones(shape) for shape in shapes]
    arrays[0][...] = np.eye(*shapes[0][-2:])
    expected = _tuple(getattr(np.linalg, name)(*arrays))
    xs = [chainerx.array(a).require_grad() for a in arrays]
    ys = _tuple(getattr(linalg, name)(*xs))
    for y, e in zip(ys, expected, strict=True):
        assert y.shape == np.shape(e)
        np.testing.assert_array_equal(chainerx.to_numpy(y.as_grad_stopped()), e)
    if name not in ('svd', 'qr'):
        chainerx.backward([y for y in ys if y.is_backprop_required()][-1].sum())
        assert xs[0].grad.shape == xs[0].shape


def test_many_small_matrices():
    # More than one thread takes, with a bad one among them.
    a = np.random.RandomState(0).uniform(-1, 1, (3000, 3, 3)) + 3 * np.eye(3)
    np.testing.assert_allclose(
        chainerx.to_numpy(linalg.inv(chainerx.array(a))), np.linalg.inv(a), rtol=1e-9
    )
    a[2500] = 0
    with pytest.raises(chainerx.ChainerxError, match='inv: Singular matrix'):
        linalg.inv(chainerx.array(a))


def test_solve_promotes_dtypes():
    y = linalg.solve(chainerx.eye(2, dtype='float32'), chainerx.ones(2, 'float64'))
    assert y.dtype == 'float64'


def test_singular_determinants():
    zero = chainerx.zeros((2, 2), 'float64')
    assert float(linalg.det(zero)) == 0
    assert [float(y) for y in linalg.slogdet(zero)] == [0, -np.inf]
    zero.require_grad()
    with pytest.raises(chainerx.ChainerxError, match='Singular'):
        linalg.det(zero).backward()


@pytest.mark.parametrize(
    'f',
    [
        lambda a: linalg.svd(a)[1],
        lambda a: linalg.svd(a, compute_uv=False),
        lambda a: linalg.eigh(a)[0],
        linalg.eigvalsh,
    ],
)
def test_gradient_of_equal_values(f):
    a = chainerx.eye(2, dtype='float64').require_grad()
    f(a).sum().backward()
    np.testing.assert_allclose(chainerx.to_numpy(a.grad), np.eye(2))


def test_pinv_of_rank_one():
    a = np.outer([1.0, 2, 3], [4.0, 5])
    np.testing.assert_allclose(chainerx.to_numpy(linalg.pinv(chainerx.array(a))), np.linalg.pinv(a))
    # All values but the largest count as zero.
    b = np.diag([1.0, 0.1])
    assert linalg.pinv(chainerx.array(b), 0.5).tolist() == [[1, 0], [0, 0]]


NORMS = [
    *[((2, 3), {'ord': order}) for order in (None, 'fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf)],
    *[((5,), {'ord': order}) for order in (None, 1, 2, 3, 0.5, -1, np.inf, -np.inf)],
    *[
        ((2, 3, 2), {'ord': order, 'axis': (2, 0), 'keepdims': keepdims})
        for order in (None, 'fro', 'nuc', 1, -2, np.inf)
        for keepdims in (False, True)
    ],
    ((2, 3, 2), {}),
    ((2, 3), {'keepdims': True}),
    ((2, 3, 2), {'ord': 3, 'axis': -2}),
    ((2, 3, 2), {'axis': 1, 'keepdims': True}),
    ((2, 3), {'ord': -np.inf, 'axis': (-1, 0)}),
    ((), {}),
]


@pytest.mark.parametrize('shape, kwargs', NORMS, ids=str)
def test_norm(shape, kwargs):
    a = np.random.RandomState(3).uniform(0.5, 2, shape) * np.where(
        np.arange(np.prod(shape)).reshape(shape) % 2, 1, -1
    )
    expected = np.linalg.norm(a, **kwargs)
    y = linalg.norm(chainerx.array(a), **kwargs)
    assert y.shape == np.shape(expected)
    np.testing.assert_allclose(chainerx.to_numpy(y), expected)
    x = chainerx.array(a).require_grad()
    gy = chainerx.array(np.random.RandomState(4).uniform(-1, 1, y.shape))
    eps = [chainerx.full_like(x, 1e-5)]
    f = lambda xs: (linalg.norm(xs[0], **kwargs),)  # noqa: E731
    chainerx.check_backward(f, [x], [gy], eps, atol=1e-6, rtol=1e-5)
    gy.require_grad()
    chainerx.check_double_backward(
        lambda xs: tuple([y * y for y in f(xs)]),
        [x],
        [gy],
        [chainerx.array(a)],
        [*eps, chainerx.full_like(gy, 1e-5)],
        atol=1e-4,
        rtol=1e-4,
    )


def test_norm_dtypes_and_zero_order():
    assert linalg.norm(chainerx.array([3, 4])).dtype == 'float32'
    assert linalg.norm(chainerx.array([3, 4], 'float16')).dtype == 'float16'
    assert float(linalg.norm(chainerx.array([3.0, 0, 4]), 0)) == 2
    assert linalg.norm(chainerx.zeros((0, 3))).tolist() == 0


@pytest.mark.parametrize(
    'error, args',
    [
        (chainerx.DimensionError, (chainerx.zeros((1, 2, 3)), 1)),
        (chainerx.DimensionError, (chainerx.zeros(3), 'fro')),
        (chainerx.DimensionError, (chainerx.zeros((2, 2)), 'nuc', 0)),
        (chainerx.DimensionError, (chainerx.zeros(3), 1, 1)),
        (chainerx.DimensionError, (chainerx.zeros((2, 2)), 1, (0, 0))),
        (chainerx.DimensionError, (chainerx.zeros((2, 2, 2)), None, (0, 1, 2))),
        (chainerx.ChainerxError, (chainerx.zeros((2, 2)), 3)),
        (ValueError, (chainerx.zeros(3), 'x')),
        (TypeError, (chainerx.zeros(3), [1])),
        (TypeError, (np.zeros(3),)),
    ],
    ids=str,
)
def test_norm_bad_input(error, args):
    with pytest.raises(error):
        linalg.norm(*args)


@pytest.mark.parametrize('value', [np.nan, np.inf])
@pytest.mark.parametrize('n', [2, 3, 40])
def test_elements_that_are_not_finite(value, n):
    a = _symmetric(n)
    a[1, 0] = a[0, 1] = value
    a = chainerx.array(a)
    for f in (linalg.svd, linalg.pinv, linalg.eigh, linalg.eigvalsh):
        with pytest.raises(chainerx.ChainerxError, match='finite'):
            f(a)
    for f in (linalg.inv, linalg.qr, linalg.det, lambda a: linalg.solve(a, a), linalg.slogdet):
        f(a)
    if np.isnan(value):
        assert chainerx.isnan(linalg.cholesky(a)).any()
    # The other triangle is not read.
    a = chainerx.array(np.where(np.tri(n).T, _symmetric(n), value))
    assert chainerx.isfinite(linalg.eigvalsh(a, 'U')).all()


@pytest.mark.parametrize(
    'f',
    [
        linalg.inv,
        linalg.cholesky,
        linalg.eigh,
        linalg.eigvalsh,
        linalg.det,
        linalg.slogdet,
        lambda a: linalg.solve(a, a),
    ],
)
def test_not_square(f):
    for shape in ((2, 3), (2,), (2, 2, 3)):
        with pytest.raises(chainerx.DimensionError, match=r'\(2'):
            f(chainerx.ones(shape, 'float32'))


@pytest.mark.parametrize(
    'f',
    [
        linalg.inv,
        linalg.pinv,
        linalg.svd,
        linalg.qr,
        linalg.cholesky,
        linalg.eigh,
        linalg.eigvalsh,
        linalg.det,
        linalg.slogdet,
        lambda a: linalg.solve(a, chainerx.eye(2)),
    ],
)
def test_bad_arguments(f):
    for dtype in ('int32', 'bool', 'float16'):
        with pytest.raises(chainerx.DtypeError, match='complex64 or complex128, not ' + dtype):
            f(chainerx.ones((2, 2), dtype))
    with pytest.raises(TypeError, match='chainerx.ndarray'):
        f(np.ones((2, 2)))
    for shape in ((), (3,)):
        with pytest.raises(chainerx.DimensionError, match='matrices'):
            f(chainerx.ones(shape, 'float32'))


def test_failures():
    singular = chainerx.zeros((2, 2), 'float64')
    for f in (linalg.inv, linalg.cholesky, lambda a: linalg.solve(a, a)):
        with pytest.raises(chainerx.ChainerxError):
            f(singular)
    with pytest.raises(ValueError):
        linalg.qr(singular, 'x')
    with pytest.raises(ValueError):
        linalg.eigh(singular, 'X')
    with pytest.raises(TypeError, match="argument 'b'"):
        linalg.solve(singular)
    with pytest.raises(chainerx.DtypeError):
        linalg.solve(chainerx.eye(2), chainerx.ones(2, 'float16'))
    with pytest.raises(chainerx.DeviceError):
        linalg.solve(chainerx.eye(2), chainerx.ones(2, 'float64', device='native:1'))
    for shape in ((3,), (), (3, 2), (2, 3, 2)):
        with pytest.raises(chainerx.DimensionError):
            linalg.solve(chainerx.eye(2), chainerx.ones(shape, 'float64'))
    with pytest.raises(chainerx.DimensionError):
        linalg.solve(chainerx.ones((2, 1, 1), 'float64'), chainerx.ones((3, 1, 1), 'float64'))
    with pytest.raises(chainerx.ChainerxError, match='svd'):
        a = chainerx.array(_matrix(3, 2)).require_grad()
        linalg.svd(a)[1].sum().backward()


@pytest.mark.parametrize('mode', ['complete', 'raw'])
def test_qr_without_gradient(mode):
    a = chainerx.array(_matrix(3, 2)).require_grad()
    with pytest.raises(chainerx.ChainerxError, match='qr: gradients exist'):
        linalg.qr(a, mode)[1].sum().backward()
