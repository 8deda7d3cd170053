"""Functions that pick or place elements by an index or a condition."""

import numpy
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
import chainerx
from chainer.utils import type_check
from tests.helpers.devices import CHX

X = numpy.arange(1, 25).reshape(2, 3, 4) / 8.0

INDEXES = [
    0,
    -1,
    None,
    Ellipsis,
    slice(None),
    (),
    [1, 0],
    [1, 1, 1],
    (0, 1, 2),
    (slice(None), 1),
    (Ellipsis, 2),
    (None, 0, Ellipsis, None, slice(None, None, -2)),
    slice(1, 1),
    numpy.array([0, 1, 0]),
    numpy.array(1),
    numpy.int64(1),
    (slice(None), numpy.array([0, 2, 2])),
    (slice(None), [0, 2, 2], slice(1, 3)),
    (numpy.array([[0], [1]]), Ellipsis, numpy.array([1, 1])),
    (0, [1, 1]),
    X > 1,
    X[:, 0, 0] > 1,
    (slice(None), numpy.array([True, False, True])),
    [True, False],
    (Ellipsis, [True, False, True, True]),
    numpy.zeros(0, int),
    [slice(None), 1],
    [None, 0],
]


def _numpy_index(index):
    if isinstance(index, list) and not all(isinstance(i, int) for i in index):
        return tuple(index)
    return index


@pytest.mark.parametrize('i', range(len(INDEXES)))
def test_get_item(i):
    index = INDEXES[i]
    check_function(lambda x: F.get_item(x, index), X, lambda x: x[_numpy_index(index)])


@pytest.mark.parametrize('i', range(len(INDEXES)))
def test_scatter_add(i):
    index = INDEXES[i]
    b = X[_numpy_index(index)]

    def expected(x, b):
        y = x.copy()
        numpy.add.at(y, _numpy_index(index), b)
        return y

    check_function(lambda x, b: F.scatter_add(x, index, b), (X, numpy.asarray(b)), expected)


def test_operator():
    x = chainer.Variable(X)
    numpy.testing.assert_array_equal(x[0, ::2].array, X[0, ::2])
    numpy.testing.assert_array_equal(x[chainer.Variable(numpy.array([1, 0]))].array, X[[1, 0]])
    assert [y.shape for y in x] == [(3, 4), (3, 4)]


def test_empty_and_vector():
    check_function(lambda x: F.get_item(x, 1), numpy.array([1.0, 2.0]), lambda x: x[1])
    check_function(lambda x: F.get_item(x, ()), numpy.array(3.0), lambda x: x)
    check_function(
        lambda x: F.get_item(x, (slice(None), 0)), numpy.zeros((0, 2)), lambda x: x[:, 0]
    )


def test_get_item_errors():
    for index in (2, (0, 0, 0, 0), (0, 3), [2]):
        with pytest.raises(IndexError):
            F.get_item(X, index)
    with chainer.using_config('debug', True), pytest.raises(ValueError):
        F.get_item(X, (Ellipsis, Ellipsis))


def test_scatter_add_errors():
    with pytest.raises(type_check.InvalidType):
        F.scatter_add(X, (0, 0, 0, 0), X[0, 0])
    with pytest.raises(ValueError):
        F.scatter_add(X, slice(None), X[:1])
    with chainer.using_config('debug', True), pytest.raises(ValueError):
        F.scatter_add(X, (Ellipsis, Ellipsis), X)


@pytest.mark.parametrize('t', [numpy.array([2, 0], 'i'), numpy.array([1, 1])])
def test_select_item(t):
    check_function(F.select_item, (X[0, :2], t), lambda x, t: x[[0, 1], t])


def test_select_item_errors():
    x, t = X[0], numpy.array([0, 1, 2])
    for x_bad, t_bad in [(X, t), (x, t[:2]), (x, t[:, None]), (x, t.astype('f'))]:
        with pytest.raises(type_check.InvalidType):
            F.select_item(x_bad, t_bad)
    with chainer.using_config('debug', True), pytest.raises(ValueError):
        F.select_item(x, t + 3)


@pytest.mark.parametrize(
    'shapes',
    [
        ((2, 3), (2, 3), (2, 3)),
        ((3,), (2, 1), (1, 3)),
        ((2, 3), (), (3,)),
        ((), (2,), (1,)),
        ((0, 3), (3,), (1, 3)),
    ],
)
def test_where(shapes):
    condition, x, y = [numpy.asarray(numpy.random.uniform(-1, 1, shape)) for shape in shapes]
    condition = numpy.asarray(condition > 0)
    check_function(
        lambda x, y: F.where(condition, x, y), (x, y), lambda x, y: numpy.where(condition, x, y)
    )
    check_function(
        lambda x, y: F.where(chainer.Variable(condition), x, y), (x, y), double=False, dtypes='f'
    )


def test_where_with_number():
    condition = X > 1
    check_function(lambda x: F.where(condition, x, 2), X, lambda x: numpy.where(condition, x, 2))
    check_function(
        lambda x: F.where(condition, -0.5, x), X, lambda x: numpy.where(condition, -0.5, x)
    )


@pytest.mark.parametrize('dtype', ['int32', 'float32', 'complex64', object])
def test_where_takes_boolean_conditions_only(dtype):
    condition = numpy.array([0, 3, 1]).astype(dtype)
    x, y = numpy.arange(3.0), numpy.full(3, -1.0)
    arrays = [(x, y)]
    if chainerx.is_available():
        arrays.append((chainerx.array(x), chainerx.array(y)))
    for xs in arrays:
        with pytest.raises(type_check.InvalidType, match='condition.dtype'):
            F.where(condition, *xs)


def test_where_errors():
    condition = X > 1
    for x, y in [(X, X[:, :2]), (X, X.astype('f')), (X[:, :2], X[:, :2])]:
        with pytest.raises(type_check.InvalidType):
            F.where(condition, x, y)


@pytest.mark.parametrize(
    'from_dtype,to_dtype',
    [('e', 'd'), ('f', 'e'), ('d', numpy.float32), ('f', 'f'), ('f', 'i'), ('i', 'f')],
)
def test_cast(from_dtype, to_dtype):
    x = chainer.Variable(X.astype(from_dtype))
    y = F.cast(x, to_dtype)
    assert y.dtype == to_dtype
    numpy.testing.assert_array_equal(y.array, X.astype(from_dtype).astype(to_dtype))
    for double in (False, True):
        x.cleargrad()
        y.grad = X.astype(to_dtype)
        y.backward(enable_double_backprop=double, retain_grad=True)
        if from_dtype == 'i':
            assert x.grad is None
        else:
            assert x.grad.dtype == from_dtype
            numpy.testing.assert_array_equal(x.grad, y.grad.astype(from_dtype))


def test_cast_without_graph():
    x = chainer.Variable(X)
    assert F.cast(x, 'd') is not x
    with chainer.no_backprop_mode():
        assert F.cast(x, 'd') is x


def test_copy():
    check_function(lambda x: F.copy(x, -1), X, lambda x: x)
    x = chainer.Variable(X)
    y = F.copy(x, '@numpy')
    assert y.array is not X and (y.array == X).all()


@pytest.mark.chainerx
def test_copy_chainerx():
    x = chainer.Variable(X)
    with pytest.raises(RuntimeError):
        F.copy(x, CHX[0])
    with chainer.no_backprop_mode():
        y = F.copy(x, CHX[0])
    assert y.device.name == CHX[0]
    y = chainer.Variable(y.array)
    z = F.copy(y, CHX[0])
    z.grad = y.array
    z.backward()
    numpy.testing.assert_array_equal(chainer.backends.cuda.to_cpu(y.grad), X)


@pytest.mark.gpu
def test_copy_gpu():
    cupy = chainer.backends.cuda.cupy
    x = chainer.Variable(X)
    y = F.copy(x, 0)
    assert isinstance(y.array, cupy.ndarray)
    F.sum(y * y).backward()
    numpy.testing.assert_allclose(x.grad, 2 * X)
    assert isinstance(F.copy(y, -1).array, numpy.ndarray)
