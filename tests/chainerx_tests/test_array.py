"""The array itself: attributes, methods, operators, formatting, copies, pickling."""

import copy
import operator
import pickle
import weakref

import numpy as np
import pytest
from chainerx_tests.dtypes import to_float

import chainerx

XP = chainerx.testing.numpy_chainerx_array_equal()
DTYPES = [np.dtype(t).name for t in chainerx.all_dtypes]


def test_attributes():
    x = chainerx.arange(24, dtype='float32').reshape(2, 3, 4)
    assert (x.shape, x.strides, x.ndim, x.size) == ((2, 3, 4), (48, 16, 4), 3, 24)
    assert (x.itemsize, x.nbytes, x.data_size, x.offset) == (4, 96, 96, 0)
    assert isinstance(x.dtype, np.dtype) and x.dtype == np.float32
    assert x.is_contiguous and not x.T.is_contiguous
    y = x[1, :, ::2]
    assert (y.offset, y.strides, y.data_ptr) == (48, (16, 8), x.data_ptr)
    assert x.device is chainerx.get_default_device()
    assert x.__array_priority__ > np.ones(1).__array_priority__
    for name in 'shape', 'dtype', 'strides', 'device', 'ndim', 'T':
        with pytest.raises(AttributeError):
            setattr(x, name, None)
    with pytest.raises(AttributeError):
        x.something = 1


@pytest.mark.parametrize(
    'args, kwargs, dtype, device',
    [
        (((2, 3),), {}, 'float32', 'native:0'),
        (((2, 3), 'int8'), {}, 'int8', 'native:0'),
        (([2, 3], np.float16, 'native:1'), {}, 'float16', 'native:1'),
        ((), {'shape': (2, 3), 'dtype': float, 'device': 'native:1'}, 'float64', 'native:1'),
    ],
)
def test_constructor(args, kwargs, dtype, device):
    x = chainerx.ndarray(*args, **kwargs)
    assert (x.shape, x.dtype, x.device.name) == ((2, 3), dtype, device)
    x.fill(3)
    assert x.tolist() == [[3, 3, 3], [3, 3, 3]]


def test_constructor_errors():
    for args in (), ('a',), ((2,), 'float32', None, 1):
        with pytest.raises(TypeError):
            chainerx.ndarray(*args)
    with pytest.raises(chainerx.DtypeError):
        chainerx.ndarray((2,), 'clongdouble')
    with pytest.raises(TypeError):
        type('Sub', (chainerx.ndarray,), {})


def test_identity_of_objects():
    x = chainerx.ones(2)
    assert weakref.ref(x)() is x
    assert x.require_grad() is x
    y = chainerx.ones(2)
    assert {x: 1, y: 2}[x] == 1 and len({x, y, x}) == 2
    assert {hash(x[0:1]) for _ in range(3)}  # of an object that is gone at once


@chainerx.testing.numpy_chainerx_allclose()
@pytest.mark.parametrize(
    'name, kwargs',
    [
        ('max', {}),
        ('max', {'axis': 1}),
        ('min', {'axis': (0, 1), 'keepdims': True}),
        ('sum', {'axis': 0}),
        ('mean', {'keepdims': True}),
        ('var', {}),
        ('std', {'axis': 1}),
        ('all', {}),
        ('any', {'axis': 0}),
        ('argmax', {}),
        ('argmin', {'axis': 1}),
        ('cumsum', {'axis': 0}),
        ('prod', {}),
        ('clip', {'a_min': 1, 'a_max': 3}),
        ('ravel', {}),
        ('squeeze', {}),
        ('repeat', {'repeats': 2}),
        ('swapaxes', {'axis1': 0, 'axis2': 1}),
        ('copy', {}),
        ('flatten', {}),
        ('transpose', {}),
    ],
)
def test_methods(xp, name, kwargs):
    x = xp.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    if xp is np and name in ('clip', 'swapaxes'):  # other names of arguments
        return getattr(x, name)(*kwargs.values())
    return getattr(x, name)(**kwargs)


@XP
@pytest.mark.parametrize('shape', [((3, 2),), (3, 2), (-1,), ((2, -1),), (2, 3, 1)], ids=str)
def test_reshape(xp, shape):
    return xp.arange(6, dtype='int64').reshape(*shape)


@pytest.mark.parametrize('shape', [(4,), (-1, -1), (-2, 3), (0,), (4, -1)], ids=str)
def test_reshape_errors(shape):
    with pytest.raises(chainerx.DimensionError):
        chainerx.arange(6).reshape(shape)


@XP
@pytest.mark.parametrize('axes', [(), (None,), (2, 0, 1), ((2, 0, 1),), (-1, 0, 1)], ids=str)
def test_transpose(xp, axes):
    return xp.arange(24, dtype='int64').reshape(2, 3, 4).transpose(*axes)


@pytest.mark.parametrize('axes', [(0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 3)], ids=str)
def test_transpose_errors(axes):
    with pytest.raises(chainerx.DimensionError):
        chainerx.ones((2, 3, 4)).transpose(axes)


@pytest.mark.parametrize('source', DTYPES)
@pytest.mark.parametrize('dtype', DTYPES)
def test_astype(source, dtype):
    a = np.array([[0, 1, 2], [3, 4, 5]]).astype(source)
    chainerx.testing.assert_array_equal_ex(chainerx.array(a).astype(dtype), a.astype(dtype))


def test_astype_copy():
    x = chainerx.ones(2)
    assert x.astype('float32', copy=False) is x
    assert x.astype('float32') is not x
    assert x.astype('float32').data_ptr != x.data_ptr


@pytest.mark.parametrize('dtype', DTYPES)
def test_item_and_conversion(dtype):
    for shape in (), (1,), (1, 1):
        x = chainerx.full(shape, 1, dtype)
        expected = np.ones((), dtype).item()
        assert x.item() == expected and type(x.item()) is type(expected)
        assert float(x) == 1.0 and int(x) == 1 and bool(x) is True


def test_conversion_errors():
    x = chainerx.ones((2,))
    assert issubclass(chainerx.DimensionError, ValueError)
    with pytest.raises(chainerx.DimensionError, match='ambiguous'):
        bool(x)
    for f in float, int, operator.methodcaller('item'):
        with pytest.raises(chainerx.DimensionError):
            f(x)
    with pytest.raises(chainerx.DimensionError):
        bool(chainerx.ones((0,)))
    with pytest.raises(TypeError):
        len(chainerx.ones(()))
    with pytest.raises(TypeError):
        iter(chainerx.ones(()))
    with pytest.raises(TypeError):
        operator.index(chainerx.ones((), 'float32'))


def test_sequence():
    x = chainerx.arange(6).reshape(3, 2)
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert 3 in x and 9 not in x
    assert list(range(9))[chainerx.array(4)] == 4
    assert x.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert chainerx.array(2.5).tolist() == 2.5


@pytest.mark.parametrize('value', [3, 2.5, True, np.float32(1.5), chainerx.array(2)], ids=repr)
def test_fill(value):
    x = chainerx.zeros((2, 3))
    x[:, 1].fill(value)
    chainerx.testing.assert_array_equal(x[:, 1], np.full(2, float(value)))
    chainerx.testing.assert_array_equal(x[:, ::2], np.zeros((2, 2)))


def test_fill_errors():
    with pytest.raises(TypeError):
        chainerx.zeros(2).fill('a')
    with pytest.raises(chainerx.ChainerxError):
        (chainerx.zeros(2).require_grad() * 2).fill(1)


def test_view():
    x = chainerx.zeros(3)
    y = x.view()
    y += 1
    assert y is not x and y.data_ptr == x.data_ptr
    chainerx.testing.assert_array_equal(x, [1, 1, 1])
    z = x.flatten()
    z += 1
    chainerx.testing.assert_array_equal(x, [1, 1, 1])


# ---- operators

BINARY = ['add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'pow', 'matmul']
BITWISE = ['and_', 'or_', 'xor', 'lshift', 'rshift']
COMPARE = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']


def _operands(xp, name):
    bitwise = any(name.rstrip('_').endswith(n.rstrip('_')) for n in BITWISE)
    dtype = 'int64' if bitwise else 'float64'
    return xp.array([[1, 2], [3, 4]], dtype), xp.array([[2, 1], [3, 2]], dtype)


@XP
@pytest.mark.parametrize('name', BINARY + BITWISE + COMPARE)
def test_binary_operators(xp, name):
    return getattr(operator, name)(*_operands(xp, name))


@XP
@pytest.mark.parametrize('name', [n for n in BINARY + BITWISE + COMPARE if n != 'matmul'])
@pytest.mark.parametrize('swap', [False, True])
def test_operators_with_scalars(xp, name, swap):
    x, f = _operands(xp, name)[0], getattr(operator, name)
    return f(2, x) if swap else f(x, 2)


@XP
@pytest.mark.parametrize('name', ['i' + n.rstrip('_') for n in BINARY + BITWISE if n != 'matmul'])
@pytest.mark.parametrize('scalar', [False, True])
def test_in_place_operators(xp, name, scalar):
    x, y = _operands(xp, name)
    before = x
    x = getattr(operator, name)(x, 2 if scalar else y)
    assert x is before
    return x


@XP
@pytest.mark.parametrize('name', ['neg', 'pos', 'abs', 'invert'])
def test_unary_operators(xp, name):
    return getattr(operator, name)(xp.array([-1, 2, -3]))


def test_in_place_errors():
    x = chainerx.zeros(3, 'int32')
    with pytest.raises(chainerx.DtypeError):
        x += 1.5
    with pytest.raises(chainerx.DtypeError):
        x /= 2
    with pytest.raises(chainerx.DimensionError):
        x += chainerx.ones((2, 3), 'int32')
    chainerx.testing.assert_array_equal(x, [0, 0, 0])


def test_in_place_on_overlapping_memory():
    x = chainerx.arange(5)
    x[1:] += x[:-1]
    expected = np.arange(5)
    expected[1:] += expected[:-1].copy()
    chainerx.testing.assert_array_equal(x, expected)


def test_operators_with_other_objects():
    x = chainerx.ones(2)
    for other in 'a', None, [1, 2]:
        with pytest.raises(TypeError):
            x + other
        with pytest.raises(TypeError):
            other - x
    assert (x == 'a') is False and (x != None) is True  # noqa: E711
    with pytest.raises(OverflowError):
        x + 2**70


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('scalar', [True, 2, 2.5], ids=repr)
def test_scalars_are_weak(dtype, scalar):
    x = chainerx.ones(2, dtype)
    expected = to_float(dtype) if scalar == 2.5 else dtype
    assert (x * scalar).dtype == expected
    chainerx.testing.assert_array_equal(x * scalar, np.array([scalar, scalar], expected))


@pytest.mark.parametrize('value', [-1, 300])
def test_scalar_out_of_range(value):
    with pytest.raises((OverflowError, chainerx.DtypeError)):
        chainerx.ones(2, 'uint8') + value


# ---- text


@pytest.mark.parametrize(
    'array, text',
    [
        (
            lambda: chainerx.array([1.0, 2.5], 'float32'),
            "array([1. , 2.5], shape=(2,), dtype=float32, device='native:0')",
        ),
        (lambda: chainerx.array(3), "array(3, shape=(), dtype=int64, device='native:0')"),
        (
            lambda: chainerx.array(True, device='native:1'),
            "array(True, shape=(), dtype=bool, device='native:1')",
        ),
        (
            lambda: chainerx.empty((0, 2), 'int8'),
            "array([], shape=(0, 2), dtype=int8, device='native:0')",
        ),
        (
            lambda: chainerx.array([1.0]).require_grad(),
            "array([1.], shape=(1,), dtype=float64, device='native:0', backprop_ids=['<default>'])",
        ),
    ],
)
def test_repr(array, text):
    x = array()
    assert repr(x) == text
    assert str(x) == (text if x.ndim else str(x.item()))


def test_format():
    assert '%.2f' % chainerx.array(1.234) == '1.23'  # noqa: UP031
    assert format(chainerx.array([1])).startswith('array([1]')


# ---- copies and pickles


@pytest.mark.parametrize(
    'f',
    [
        copy.copy,
        copy.deepcopy,
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: pickle.loads(pickle.dumps(x, 2)),
    ],
)
@pytest.mark.parametrize('dtype', DTYPES)
def test_copies(f, dtype):
    x = chainerx.array([[0, 1, 2], [1, 0, 1]], dtype, device='native:1')
    for array in x, x.T, x[:, ::-1], x[0, 0], x[:0]:
        y = f(array)
        assert y.device is x.device
        assert y.data_ptr != x.data_ptr
        chainerx.testing.assert_array_equal_ex(y, array, strides_check=False)


@pytest.mark.parametrize('f', [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_no_graph(f):
    x = chainerx.ones(2).require_grad()
    for array in x, x * 2:
        assert not f(array).is_backprop_required()


def test_pickle_keeps_sharing():
    x = chainerx.ones(2)
    y, z = pickle.loads(pickle.dumps([x, x]))
    assert y is z


def test_setstate():
    x, y = chainerx.ones(2), chainerx.zeros((1, 3), 'int8')
    x.__setstate__(y.__getstate__())
    chainerx.testing.assert_array_equal_ex(x, np.zeros((1, 3), 'int8'))


def test_pickle_of_functions():
    for function in chainerx.exp, chainerx.sum, chainerx.linear:
        assert pickle.loads(pickle.dumps(function)) is function
