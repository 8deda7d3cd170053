"""chainerx.einsum against NumPy, with first and second gradients."""

import numpy as np
import pytest

import chainerx

CASES = [
    # One operand: permutations, sums, diagonals.
    ('ij', [(2, 3)]),
    ('ji', [(2, 3)]),
    ('ij->ji', [(2, 3)]),
    ('ij->', [(2, 3)]),
    ('ij->j', [(2, 3)]),
    ('ii', [(3, 3)]),
    ('ii->i', [(3, 3)]),
    ('iij->ij', [(2, 2, 3)]),
    ('iji->j', [(2, 3, 2)]),
    ('iii->i', [(3, 3, 3)]),
    ('ijij->ij', [(2, 3, 2, 3)]),
    ('ijji', [(2, 3, 3, 2)]),
    ('', [()]),
    ('i->', [(0,)]),
    # Products.
    ('ij,jk', [(2, 3), (3, 4)]),
    ('ij,jk->ki', [(2, 3), (3, 4)]),
    ('i,i', [(3,), (3,)]),
    ('i,j', [(2,), (3,)]),
    ('i,j->ji', [(2,), (3,)]),
    ('ij,ij->ij', [(2, 3), (2, 3)]),
    ('ij,ij', [(2, 3), (2, 3)]),
    ('ij,kj->ik', [(2, 3), (4, 3)]),
    ('bij,bjk->bik', [(2, 3, 4), (2, 4, 2)]),
    ('bij,bkj->kbi', [(2, 3, 4), (2, 5, 4)]),
    ('bhqd,bhkd->bhqk', [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ('ijkl,klm->mij', [(2, 3, 2, 3), (2, 3, 4)]),
    ('ij,jk->i', [(2, 3), (3, 4)]),
    ('i,->i', [(3,), ()]),
    (',', [(), ()]),
    ('ij,', [(2, 3), ()]),
    ('ii,i->i', [(3, 3), (3,)]),
    ('ii,jj', [(2, 2), (3, 3)]),
    ('ba,Ab', [(2, 3), (4, 2)]),
    ('ij,jk', [(0, 3), (3, 2)]),
    ('ij,jk', [(2, 0), (0, 3)]),
    # An axis of length one is broadcast.
    ('ij,jk', [(2, 1), (3, 4)]),
    ('ij,jk', [(2, 3), (1, 4)]),
    ('ij,ij->ij', [(1, 3), (2, 1)]),
    ('ij,jk', [(2, 1), (1, 2)]),
    # More operands.
    ('ij,jk,kl', [(2, 3), (3, 4), (4, 2)]),
    ('i,ij,j', [(2,), (2, 3), (3,)]),
    ('i,i,i->i', [(3,)] * 3),
    ('ab,bc,cd,de->ae', [(2, 3), (3, 2), (2, 3), (3, 2)]),
    ('i,j,k->kij', [(2,), (3,), (2,)]),
    ('bn,anm,bm->ba', [(2, 3), (4, 3, 5), (2, 5)]),
    # Ellipses.
    ('...', [(2, 3)]),
    ('...ij->...ji', [(2, 3, 4)]),
    ('i...->i', [(3,)]),
    ('...i->...', [(2, 3)]),
    ('i...j->...', [(2, 3, 4)]),
    ('...ij,...jk->...ik', [(2, 1, 2, 3), (4, 3, 2)]),
    ('...ij,jk', [(2, 2, 3), (3, 2)]),
    ('...,...', [(2, 3), (3,)]),
    ('i...,...i->...', [(2, 3), (4, 3, 2)]),
    ('...ii->...i', [(2, 3, 3)]),
    ('ij,ij->...', [(2, 3), (2, 3)]),
    ('...,i->i...', [(), (3,)]),
    (' i j , j k -> i k ', [(2, 3), (3, 2)]),
]
cases = pytest.mark.parametrize('subscripts, shapes', CASES, ids=str)


def _inputs(shapes, dtype='float64'):
    rng = np.random.RandomState(len(shapes))
    return [
        np.asarray(
            rng.uniform(-2, 2, shape) if np.dtype(dtype).kind == 'f' else rng.randint(0, 3, shape)
        ).astype(dtype)
        for shape in shapes
    ]


@cases
@pytest.mark.parametrize(
    'dtype', ['bool', 'int8', 'uint8', 'int64', 'float16', 'float32', 'float64']
)
def test_values(subscripts, shapes, dtype):
    inputs = _inputs(shapes, dtype)
    wide = [a.astype('float64') if dtype == 'float16' else a for a in inputs]
    expected = np.einsum(subscripts, *wide)
    tolerance = {'float16': 4e-3, 'float32': 2e-5}.get(dtype, 1e-12)
    plain = [chainerx.array(a) for a in inputs]
    for xs in (plain, [x.T.copy().T for x in plain]):
        y = chainerx.einsum(subscripts, *xs)
        assert y.shape == np.shape(expected)
        assert y.dtype == dtype
        np.testing.assert_allclose(chainerx.to_numpy(y), expected, tolerance, tolerance)


@cases
def test_gradients(subscripts, shapes):
    inputs = _inputs(shapes)
    rng = np.random.RandomState(1)

    def draw(a):
        return chainerx.array(rng.uniform(-1, 1, a.shape))

    def f(xs):
        return (chainerx.einsum(subscripts, *xs),)

    xs = [chainerx.array(a).require_grad() for a in inputs]
    gys = [draw(f([x.as_grad_stopped() for x in xs])[0]).require_grad()]
    eps = [chainerx.full_like(x, 1e-4) for x in xs]
    chainerx.check_backward(f, xs, gys, eps, atol=1e-6, rtol=1e-5)
    eps += [chainerx.full_like(gys[0], 1e-4)]
    chainerx.check_double_backward(
        lambda xs: tuple([y * y for y in f(xs)]),
        xs,
        gys,
        [draw(x) for x in xs],
        eps,
        atol=1e-5,
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    'labels',
    [
        ([0, 1], [1, 2]),
        ([0, 1], [1, 2], [2, 0]),
        ([Ellipsis, 26], [26, 25]),
        ([Ellipsis, 1], [1, 0], [0, Ellipsis]),
    ],
    ids=str,
)
def test_lists_of_labels(labels):
    a, b = _inputs([(2, 3), (3, 4)])
    expected = np.einsum(a, labels[0], b, labels[1], *labels[2:])
    y = chainerx.einsum(chainerx.array(a), labels[0], chainerx.array(b), labels[1], *labels[2:])
    np.testing.assert_allclose(chainerx.to_numpy(y), expected)


def test_promotion_and_optimize():
    a, b = chainerx.ones((2, 3), 'int8'), chainerx.ones((3, 2), 'float32')
    assert chainerx.einsum('ij,jk', a, b, optimize=False).dtype == 'float32'


def test_partial_products_of_float16():
    x = chainerx.full(4, 300, 'float16')
    small = chainerx.full(4, 2**-10, 'float16')
    assert (
        float(chainerx.einsum('i,i,i->', x, x, small)) == 351.5
    )  # 300 * 300 is above the largest float16


def test_shares_data():
    a = chainerx.zeros((3, 3), 'float32')
    chainerx.einsum('ii->i', a).fill(1)
    assert a.tolist() == np.eye(3).tolist()


def _zeros(*shape):
    return chainerx.zeros(shape, 'float32')


@pytest.mark.parametrize(
    'error, match, args',
    [
        (chainerx.ChainerxError, 'number of arrays is 1', ('i,i', _zeros(3))),
        (chainerx.ChainerxError, 'number of arrays is 2', ('i', _zeros(3), _zeros(3))),
        (chainerx.ChainerxError, 'number of arrays is 0', ('i',)),
        (chainerx.ChainerxError, 'only letters', ('i$', _zeros(3))),
        (chainerx.ChainerxError, 'only letters', ('i->i->', _zeros(3))),
        (chainerx.ChainerxError, 'only letters', ('i-', _zeros(3))),
        (chainerx.ChainerxError, 'only letters', ('i>', _zeros(3))),
        (chainerx.ChainerxError, 'only letters', ('i.j', _zeros(3, 3))),
        (chainerx.ChainerxError, 'only letters', ('i->i,', _zeros(3))),
        (chainerx.ChainerxError, 'more than one ellipsis', ('...i...', _zeros(3))),
        (chainerx.ChainerxError, "'k', which no input has", ('ij->k', _zeros(2, 3))),
        (chainerx.ChainerxError, "'i' more than once", ('i->ii', _zeros(2))),
        (chainerx.DimensionError, 'needs an ellipsis', ('...i->i', _zeros(2, 3))),
        (chainerx.DimensionError, 'do not fit array 0', ('i', _zeros(2, 3))),
        (chainerx.DimensionError, 'do not fit array 1', ('i,...ij', _zeros(2), _zeros(2))),
        (
            chainerx.DimensionError,
            "'j' has the lengths 3 and 2",
            ('ij,jk', _zeros(2, 3), _zeros(2, 3)),
        ),
        (chainerx.DimensionError, 'a dimension of the ellipsis', ('...,...', _zeros(2), _zeros(3))),
        (chainerx.DimensionError, "'i' names axes", ('ii', _zeros(2, 3))),
        (
            chainerx.DeviceError,
            'native:1',
            ('i,i', _zeros(3), chainerx.zeros(3, 'float32', device='native:1')),
        ),
        (TypeError, 'subscripts', ()),
        (TypeError, 'chainerx.ndarray', ('i', np.zeros(3))),
        (TypeError, 'list of labels', (_zeros(3), 0)),
        (TypeError, 'integer', (_zeros(3), ['i'])),
        (ValueError, 'between 0 and 51', (_zeros(3), [52])),
    ],
)
def test_bad_input(error, match, args):
    with pytest.raises(error, match=match):
        chainerx.einsum(*args)


def test_unknown_keyword():
    with pytest.raises(TypeError, match='dtype'):
        chainerx.einsum('i', _zeros(3), dtype='float64')


@pytest.mark.parametrize(
    'error, match, call',
    [
        (
            chainerx.DimensionError,
            'not aligned',
            lambda: chainerx.tensordot(_zeros(2, 2), _zeros(3, 3), 1),
        ),
        (
            chainerx.DimensionError,
            'axes is 3',
            lambda: chainerx.tensordot(_zeros(2, 2), _zeros(2, 2), 3),
        ),
        (
            chainerx.DimensionError,
            'axes is -1',
            lambda: chainerx.tensordot(_zeros(2, 2), _zeros(2, 2), -1),
        ),
        (
            chainerx.DimensionError,
            'differ in number',
            lambda: chainerx.tensordot(_zeros(2, 2), _zeros(2, 2), ((0,), (0, 1))),
        ),
        (
            chainerx.DimensionError,
            '',
            lambda: chainerx.tensordot(_zeros(2, 2), _zeros(2, 2), ((0, 0), (0, 1))),
        ),
        (
            ValueError,
            'axes must be',
            lambda: chainerx.tensordot(_zeros(2, 2), _zeros(2, 2), ((0,),)),
        ),
        (ValueError, 'axes must be', lambda: chainerx.tensordot(_zeros(2, 2), _zeros(2, 2), 1.5)),
        (chainerx.DimensionError, 'inner: shapes', lambda: chainerx.inner(_zeros(3), _zeros(2))),
        (chainerx.DimensionError, 'vdot: shapes', lambda: chainerx.vdot(_zeros(3), _zeros(2))),
        (chainerx.DimensionError, 'at least 2 dimensions', lambda: chainerx.trace(_zeros(3))),
        (chainerx.DimensionError, 'are both 1', lambda: chainerx.trace(_zeros(2, 2), 0, 1, 1)),
        (chainerx.DimensionError, 'out of', lambda: chainerx.diagonal(_zeros(2, 2), 0, 0, 2)),
        (
            chainerx.DimensionError,
            '16 dimensions',
            lambda: chainerx.kron(_zeros(*[1] * 9), _zeros(1)),
        ),
    ],
)
def test_bad_input_of_products(error, match, call):
    with pytest.raises(error, match=match or None):
        call()
