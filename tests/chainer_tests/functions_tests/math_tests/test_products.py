"""Matrix and tensor products, and linear algebra."""

import warnings

import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F, utils
from chainer.utils import type_check

LOOSE = {np.float16: 3e-2}


def _sample(shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape)


def _t(x, transpose):
    return x.swapaxes(-1, -2) if transpose and x.ndim > 1 else x


@pytest.mark.parametrize(
    'a_shape, b_shape',
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 1), (5, 1, 4)),
        ((5, 2, 1), (1, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((1, 2, 3), (5, 3, 1)),
        ((5, 2, 3), (3,)),
        ((3,), (5, 3, 2)),
        ((6, 1, 2, 3), (5, 3, 2)),
    ],
    ids=str,
)
@pytest.mark.parametrize('transa, transb', [(False, False), (True, False), (True, True)])
def test_matmul(a_shape, b_shape, transa, transb):
    a, b = _t(_sample(a_shape), transa).copy(), _t(_sample(b_shape, 1), transb).copy()
    check_function(
        lambda a, b: F.matmul(a, b, transa, transb),
        [a, b],
        lambda a, b: np.matmul(_t(a, transa), _t(b, transb)),
        tolerances=LOOSE,
    )


def test_matmul_operators():
    a, b = chainer.Variable(_sample((2, 3))), _sample((3, 2))
    np.testing.assert_allclose((a @ b).array, a.array @ b)
    np.testing.assert_allclose((b @ a).array, b @ a.array)
    assert (a @ b).creator.label == 'MatMul'


@pytest.mark.parametrize('shapes', [((2, 3), (2, 3)), ((), (3,)), ((2, 2, 3), (3, 3, 4))], ids=str)
def test_matmul_bad_shapes(shapes):
    with pytest.raises(type_check.InvalidType):
        F.matmul(*[_sample(s) for s in shapes])


@pytest.mark.parametrize(
    'a_shape, b_shape, transa, transb',
    [
        ((4, 2, 3), (4, 3, 5), False, False),
        ((4, 3, 2), (4, 5, 3), True, True),
        ((4, 3), (4, 3), True, False),
        ((4, 3), (4, 1, 2), False, False),
    ],
)
def test_batch_matmul(a_shape, b_shape, transa, transb):
    def f(a, b):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)
            return F.batch_matmul(a, b, transa, transb)

    def expected(a, b):
        a, b = [x[..., None] if x.ndim == 2 else x for x in (a, b)]
        return np.matmul(_t(a, transa), _t(b, transb))

    check_function(f, [_sample(a_shape), _sample(b_shape, 1)], expected, tolerances=LOOSE)
    with pytest.warns(DeprecationWarning):
        F.batch_matmul(_sample(a_shape), _sample(b_shape), transa, transb)


@pytest.mark.parametrize(
    'a_shape, b_shape, axes',
    [
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3), (4, 5), 0),
        ((2, 3, 4), (4, 2, 5), ([2, 0], [0, 1])),
        ((2, 3, 4), (3, 4, 5), ((1, 2), (0, 1))),
        ((4, 3), (2, 4), (0, 1)),
        ((4, 3), (2, 4), (-2, -1)),
    ],
)
def test_tensordot(a_shape, b_shape, axes):
    check_function(
        lambda a, b: F.tensordot(a, b, axes),
        [_sample(a_shape), _sample(b_shape, 1)],
        lambda a, b: np.tensordot(a, b, axes),
        tolerances=LOOSE,
    )


def test_tensordot_errors():
    a, b = _sample((2, 3)), _sample((4, 3))
    with pytest.raises(type_check.InvalidType):
        F.tensordot(a, b, 1)
    for axes in (((0, 1), (0,)), (0, 1, 2)):
        with pytest.raises(ValueError):
            F.tensordot(a, b, axes)


@pytest.mark.parametrize(
    'subscripts, shapes',
    [
        ('ij,jk->ik', [(2, 3), (3, 4)]),
        ('ij,jk', [(2, 3), (3, 4)]),
        ('ii->i', [(3, 3)]),
        ('ii', [(3, 3)]),
        ('ij->ji', [(2, 3)]),
        ('ij->', [(2, 3)]),
        ('i,j->ij', [(2,), (3,)]),
        ('...ij,...jk->...ik', [(5, 2, 3), (5, 3, 4)]),
        ('...ij,...jk', [(1, 2, 3), (5, 3, 4)]),
        ('ij,jk,kl->il', [(2, 3), (3, 4), (4, 2)]),
        ('iij,j->i', [(2, 2, 3), (3,)]),
        ('ij...,j->i...', [(2, 3, 4), (3,)]),
        (',i->i', [(), (3,)]),
    ],
)
def test_einsum(subscripts, shapes):
    inputs = [_sample(s, i) for i, s in enumerate(shapes)]
    check_function(
        lambda *xs: F.einsum(subscripts, *xs),
        inputs,
        lambda *xs: np.einsum(subscripts, *xs),
        tolerances=LOOSE,
    )


def test_einsum_with_lists():
    a, b = _sample((2, 3)), _sample((3, 4))
    check_function(
        lambda a, b: F.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        [a, b],
        lambda a, b: np.dot(a, b).T,
        tolerances=LOOSE,
    )


def test_einsum_errors():
    a = _sample((2, 3))
    for subscripts in ('ij->ii', 'ij->k', 'ij,jk->ik', 'i.j'):
        with pytest.raises(ValueError):
            F.einsum(subscripts, a)
    for subscripts, inputs in (('ij,jk', (a, a)), ('ijk', (a,))):
        with pytest.raises(type_check.InvalidType):
            F.einsum(subscripts, *inputs)


def _matrix(n=3):
    return _sample((n, n)) + 2 * np.eye(n)


@pytest.mark.parametrize(
    'f, x, reference',
    [
        (F.inv, _matrix(), np.linalg.inv),
        (F.batch_inv, np.stack([_matrix(), 2 * _matrix()]), np.linalg.inv),
        (F.det, _matrix(), np.linalg.det),
        (F.batch_det, np.stack([_matrix(), 2 * _matrix()]), np.linalg.det),
        (
            lambda a: F.cholesky(a @ F.transpose(a)),
            _matrix(),
            lambda a: np.linalg.cholesky(a @ a.T),
        ),
    ],
    ids=['inv', 'batch_inv', 'det', 'batch_det', 'cholesky'],
)
def test_linalg(f, x, reference):
    check_function(f, [x], reference, tolerances=LOOSE, grad_tolerance=1e-3)


@pytest.mark.parametrize('f', [F.inv, F.det, F.cholesky])
def test_linalg_bad_input(f):
    with pytest.raises(type_check.InvalidType):
        f(_sample((2, 2, 2)))
    with pytest.raises(np.linalg.LinAlgError if f is F.cholesky else type_check.InvalidType):
        f(_sample((2, 3)))


@pytest.mark.parametrize('name', ['fft', 'ifft'])
def test_fft(name):
    def expected(real, imag):
        y = getattr(np.fft, name)(real + 1j * imag)
        return y.real, y.imag

    check_function(
        lambda r, i: getattr(F, name)((r, i)),
        [_sample((2, 4)), _sample((2, 4), 1)],
        expected,
        tolerances=LOOSE,
    )


@pytest.mark.parametrize('transa', [False, True])
@pytest.mark.parametrize('transb', [False, True])
@pytest.mark.parametrize('batch', [(), (2,)])
@pytest.mark.parametrize('sparse_first', [True, False])
def test_sparse_matmul(transa, transb, batch, sparse_first):
    a, b = _sample((*batch, 3, 4)), _sample((*batch, 4, 2), 1)
    a[_sample(a.shape, 2) > 0] = 0
    b[_sample(b.shape, 3) > 0] = 0
    a, b = _t(a, transa).copy(), _t(b, transb).copy()
    sparse = utils.to_coo(a if sparse_first else b)

    def f(data, dense):
        coo = utils.CooMatrix(data.array, sparse.row, sparse.col, sparse.shape, sparse.order)
        coo.data = data
        args = (coo, dense) if sparse_first else (dense, coo)
        return F.sparse_matmul(*args, transa=transa, transb=transb)

    def expected(data, dense):
        coo = utils.CooMatrix(data, sparse.row, sparse.col, sparse.shape, sparse.order).to_dense()
        x, y = (coo, dense) if sparse_first else (dense, coo)
        return np.matmul(_t(x, transa), _t(y, transb))

    data, dense = chainer.Variable(sparse.data.array), chainer.Variable(b if sparse_first else a)
    y = f(data, dense)
    np.testing.assert_allclose(y.array, expected(data.array, dense.array))
    rng = np.random.RandomState(0)
    gy = rng.uniform(-1, 1, y.shape)
    chainer.gradient_check.check_backward(f, (data.array, dense.array), gy, atol=1e-4, rtol=1e-4)
    chainer.gradient_check.check_double_backward(
        f,
        (data.array, dense.array),
        gy,
        (rng.uniform(-1, 1, data.shape), rng.uniform(-1, 1, dense.shape)),
        atol=1e-4,
        rtol=1e-4,
    )


def test_sparse_matmul_needs_one_sparse_operand():
    with pytest.raises(ValueError):
        F.sparse_matmul(_sample((2, 2)), _sample((2, 2)))
