import numpy
import pytest
import scipy.sparse

import chainer
from chainer import utils


def make_sparse(shape, dtype='f'):
    x = numpy.random.randint(1, 9, shape).astype(dtype)
    x[numpy.random.rand(*shape) < 0.6] = 0
    return x


@pytest.mark.parametrize('shape', [(3, 4), (2, 3, 4), (1, 1), (0, 3, 4), (3, 5, 1)])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_round_trip(shape, dtype):
    x = make_sparse(shape, dtype)
    coo = utils.to_coo(x)
    assert isinstance(coo, utils.CooMatrix)
    assert coo.shape == shape[-2:] and coo.order == 'C'
    assert coo.data.dtype == dtype and coo.row.dtype == coo.col.dtype == numpy.int32
    assert coo.data.shape == coo.row.shape == coo.col.shape
    numpy.testing.assert_array_equal(coo.to_dense(), x)
    assert coo.to_dense().dtype == dtype


def test_against_scipy():
    x = make_sparse((4, 5))
    coo, expected = utils.to_coo(x), scipy.sparse.coo_matrix(x)
    numpy.testing.assert_array_equal(coo.data.array, expected.data)
    numpy.testing.assert_array_equal(coo.row, expected.row)
    numpy.testing.assert_array_equal(coo.col, expected.col)


def test_ldnz():
    x = numpy.eye(3, dtype='f')
    coo = utils.to_coo(x, ldnz=5)
    numpy.testing.assert_array_equal(coo.data.array, [1, 1, 1, 0, 0])
    numpy.testing.assert_array_equal(coo.row, [0, 1, 2, -1, -1])
    numpy.testing.assert_array_equal(coo.col, [0, 1, 2, -1, -1])
    assert utils.to_coo(x, ldnz=2).data.shape == (3,)
    assert utils.get_order(coo.row, coo.col) == 'C'


def test_requires_grad():
    x = numpy.eye(3, dtype='f')
    assert utils.to_coo(x).data.requires_grad is False
    coo = utils.to_coo(x, requires_grad=True)
    assert isinstance(coo.data, chainer.Variable) and coo.data.requires_grad


@pytest.mark.parametrize(
    'row, col, order',
    [
        ([0, 0, 1], [0, 2, 1], 'C'),
        ([0, 1, 0], [0, 1, 2], 'F'),
        ([1, 0, 0], [0, 2, 1], 'other'),
        ([0, 0], [1, 0], 'other'),
        ([], [], 'C'),
        ([[0, 1], [0, -1]], [[1, 0], [0, -1]], 'C'),
    ],
)
def test_get_order(row, col, order):
    assert utils.get_order(numpy.array(row), numpy.array(col)) == order


def test_bad():
    data, index = numpy.zeros(3, 'f'), numpy.zeros(3, 'i')
    for args in [
        (data, index, index, (3,)),
        (data, index, index, (0, 3)),
        (data, index[None], index, (3, 3)),
        (data[None, None], index, index, (3, 3)),
        (data, index, index[:2], (3, 3)),
        (data, index, index, (3, 3), 'A'),
    ]:
        with pytest.raises(ValueError):
            utils.CooMatrix(*args)
    with pytest.raises(ValueError, match='ndim of x'):
        utils.to_coo(data)
    with pytest.raises(ValueError, match='shape of row and col'):
        utils.get_order(index, index[:2])
