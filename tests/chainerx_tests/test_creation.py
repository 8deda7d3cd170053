"""Creation routines, against NumPy's of the same name."""

import io

import numpy as np
import pytest

import chainerx

DTYPES = [np.dtype(t).name for t in chainerx.all_dtypes]
XP = chainerx.testing.numpy_chainerx_array_equal()


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('shape', [(), (0,), (3,), (2, 0, 3), (2, 3)], ids=str)
def test_constants(shape, dtype):
    for name in 'zeros', 'ones':
        chainerx.testing.assert_array_equal_ex(
            getattr(chainerx, name)(shape, dtype), getattr(np, name)(shape, dtype)
        )
    chainerx.testing.assert_array_equal_ex(chainerx.full(shape, 1, dtype), np.full(shape, 1, dtype))
    x = chainerx.empty(shape, dtype)
    assert x.shape == shape and x.dtype == dtype and x.is_contiguous


def test_default_dtypes():
    assert chainerx.zeros(2).dtype == chainerx.ones(2).dtype == 'float32'
    assert chainerx.empty(2).dtype == 'float32'
    assert chainerx.full(2, 1.5).dtype == 'float32'
    assert chainerx.full(2, 3).dtype == 'int32'
    assert chainerx.full(2, True).dtype == 'bool'
    assert chainerx.arange(3).dtype == chainerx.arange(0, 3, True).dtype == 'int32'
    assert chainerx.arange(3.0).dtype == chainerx.arange(0, 3, 0.5).dtype == 'float32'
    assert chainerx.linspace(0, 1).dtype == 'float32'
    assert chainerx.identity(2).dtype == chainerx.tri(2).dtype == 'float32'
    assert chainerx.eye(2).dtype == 'float64'
    # What is made of objects of Python is as in NumPy.
    assert chainerx.array(3).dtype == chainerx.array([3]).dtype == 'int64'
    assert chainerx.array(1.5).dtype == chainerx.array([1.5]).dtype == 'float64'


@pytest.mark.parametrize('device', [None, 'native:1'])
def test_like(device):
    x = chainerx.array([[1, 2, 3]], 'int16', device='native:2')
    expected_device = 'native:2' if device is None else device
    for y, value in (
        (chainerx.zeros_like(x, device=device), 0),
        (chainerx.ones_like(x, device=device), 1),
        (chainerx.full_like(x, 7, device=device), 7),
    ):
        assert y.device.name == expected_device
        chainerx.testing.assert_array_equal_ex(y, np.full((1, 3), value, 'int16'))
    y = chainerx.empty_like(x, device=device)
    assert (y.shape, y.dtype, y.device.name) == (x.shape, x.dtype, expected_device)
    assert chainerx.full_like(x, 1.5, dtype='float32').dtype == 'float32'
    for make in (chainerx.empty_like, chainerx.zeros_like, chainerx.ones_like):
        assert make(x, dtype=chainerx.bool).dtype == 'bool'


@chainerx.testing.numpy_chainerx_array_equal(dtype_check=False)
@pytest.mark.parametrize('args', [(5,), (2, 5), (5, 2, -1), (0,), (1, 2, 0.25), (3, 1)], ids=str)
def test_arange(xp, args):
    return xp.arange(*args)


@XP
@pytest.mark.parametrize('dtype', ['int8', 'float16', 'float32'])
def test_arange_dtype(xp, dtype):
    return xp.arange(1, 5, 2, dtype=dtype)


def test_arange_keywords():
    chainerx.testing.assert_array_equal(chainerx.arange(start=1, stop=3), [1, 2])
    with pytest.raises((ValueError, chainerx.ChainerxError)):
        chainerx.arange(1, 2, 0)


@chainerx.testing.numpy_chainerx_allclose(dtype_check=False, rtol=1e-6)
@pytest.mark.parametrize(
    'kwargs',
    [{}, {'num': 5}, {'num': 1}, {'num': 0}, {'num': 4, 'endpoint': False}, {'dtype': 'float32'}],
    ids=str,
)
def test_linspace(xp, kwargs):
    return xp.linspace(-1, 3, **kwargs)


def test_linspace_negative_num():
    with pytest.raises((ValueError, chainerx.ChainerxError)):
        chainerx.linspace(0, 1, -1)


@XP
@pytest.mark.parametrize('args', [(3,), (2, 3), (3, 2, 1), (3, 3, -1), (0,), (2, 3, 5)], ids=str)
@pytest.mark.parametrize('name', ['eye', 'tri'])
def test_eye_tri(xp, name, args):
    return getattr(xp, name)(*args, dtype='int32')


@XP
def test_identity(xp):
    return xp.identity(3, dtype='float16')


# ---- array, asarray and relatives


@pytest.mark.parametrize(
    'value',
    [
        1,
        2.5,
        True,
        [],
        [1, 2],
        [[1.0, 2.0], [3.0, 4.0]],
        [True, False],
        (1, 2.5),
        [[]],
        np.float16(2),
        np.int8(3),
        np.array([[1, 2]], 'uint8'),
    ],
    ids=repr,
)
def test_array_of_objects(value):
    chainerx.testing.assert_array_equal_ex(chainerx.array(value), np.array(value))
    chainerx.testing.assert_array_equal_ex(
        chainerx.array(value, 'float32'), np.array(value, 'float32')
    )


@chainerx.testing.parametrize_dtype_specifier('dtype')
def test_dtype_specifiers(dtype):
    assert chainerx.array([0, 1], dtype).dtype == np.dtype(dtype)
    assert chainerx.zeros(2, dtype).astype(dtype).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    'dtype', ['clongdouble', 'float128', 'U3', object, 'nonsense', 5], ids=repr
)
def test_unsupported_dtypes(dtype):
    with pytest.raises(chainerx.DtypeError):
        chainerx.zeros(2, dtype)


@pytest.mark.parametrize('value', ['text', [1, 'a'], np.zeros(2, 'clongdouble'), {}], ids=repr)
def test_array_of_nonsense(value):
    with pytest.raises((chainerx.DtypeError, TypeError, ValueError)):
        chainerx.array(value)


def test_copies():
    a = np.arange(3.0)
    assert chainerx.array(a, copy=False).data_ptr == a.ctypes.data
    assert chainerx.asarray(a).data_ptr == a.ctypes.data
    assert chainerx.array(a).data_ptr != a.ctypes.data
    x = chainerx.array(a)
    assert chainerx.asarray(x) is x
    assert chainerx.asanyarray(x) is x
    assert chainerx.array(x, copy=False) is x
    assert chainerx.array(x) is not x
    assert chainerx.asarray(object=x) is x
    assert chainerx.asarray(a=x, dtype='float32').dtype == 'float32'


def test_array_keeps_graph_and_device():
    x = chainerx.array([1.0, 2.0], device='native:1').require_grad()
    y = chainerx.array(x)
    assert y.device is x.device
    y.sum().backward()
    chainerx.testing.assert_array_equal(x.grad, [1, 1])


@pytest.mark.parametrize(
    'axes', [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)], ids=lambda a: ''.join(map(str, a))
)
@pytest.mark.parametrize('cut', [(), slice(None, None, -1), (slice(None), slice(0, 2))], ids=str)
def test_copies_keep_the_order_in_memory(axes, cut):
    a = np.arange(24.0).reshape(2, 3, 4).transpose(axes)[cut]
    x = chainerx.array(a)
    chainerx.testing.assert_array_equal_ex(x, np.array(a))
    assert x.strides == np.array(a).strides
    assert chainerx.array(a, copy=False).strides == a.strides


def test_asarray_of_other_byte_order_and_read_only():
    a = np.arange(3, dtype='>i4')
    chainerx.testing.assert_array_equal(chainerx.asarray(a), a)
    b = np.arange(3.0)
    b.flags.writeable = False
    x = chainerx.asarray(b)
    x += 1
    np.testing.assert_array_equal(b, [0, 1, 2])


@pytest.mark.parametrize('shape', [(), (2, 3)], ids=str)
def test_ascontiguousarray(shape):
    a = np.asarray(np.arange(np.prod(shape, dtype=int)), 'float32').reshape(shape)
    x = chainerx.ascontiguousarray(chainerx.array(a).T)
    chainerx.testing.assert_array_equal_ex(x, np.ascontiguousarray(a.T))


@pytest.mark.parametrize('name', ['zeros', 'ones', 'empty'])
def test_shapes(name):
    f = getattr(chainerx, name)
    assert f(3).shape == (3,)
    assert f([2, 3]).shape == (2, 3)
    assert f((np.int64(2),)).shape == (2,)
    assert f(shape=(2,), dtype='int8', device='native:1').device.name == 'native:1'
    for bad in (-1,), 'ab', 1.5, (2, None):
        with pytest.raises((TypeError, ValueError, chainerx.DimensionError)):
            f(bad)


def test_integer_out_of_range():
    with pytest.raises((OverflowError, chainerx.DtypeError)):
        chainerx.full(2, 300, 'uint8')


# ---- from files, text, iterables


@XP
@pytest.mark.parametrize(
    'kwargs', [{}, {'count': 2}, {'offset': 4}, {'count': 1, 'offset': 8}], ids=str
)
def test_frombuffer(xp, kwargs):
    return xp.frombuffer(np.arange(4, dtype='int32').tobytes(), dtype='int32', **kwargs)


def test_frombuffer_errors():
    for kwargs in {'dtype': 'int32'}, {'count': 9}, {'offset': 99}, {'offset': -1}:
        with pytest.raises(ValueError, match='frombuffer'):
            chainerx.frombuffer(bytes(6), **{'dtype': 'int8', **kwargs})
    with pytest.raises(TypeError):
        chainerx.frombuffer(3.5)


def test_fromfile(tmp_path):
    path = tmp_path / 'a'
    np.arange(3, dtype='int16').tofile(path)
    x = chainerx.fromfile(path, 'int16', device='native:1')
    assert x.device.name == 'native:1'
    chainerx.testing.assert_array_equal_ex(x, np.arange(3, dtype='int16'))


@XP
def test_fromiter(xp):
    return xp.fromiter((i * i for i in range(9)), dtype='int32', count=4)


def test_fromstring():
    x = chainerx.fromstring('1, 2, 3', 'int64', sep=',')
    chainerx.testing.assert_array_equal_ex(x, np.array([1, 2, 3]))
    y = chainerx.fromstring(np.array([1.0, 2.0]).tobytes())
    chainerx.testing.assert_array_equal_ex(y, np.array([1.0, 2.0]))


@XP
def test_loadtxt(xp):
    text = io.StringIO('# head\n1 2\n3 4\n')
    return xp.loadtxt(text, dtype='float32', usecols=(1,))


@XP
@pytest.mark.parametrize('dtype', ['int32', 'float64'])
def test_fromfunction(xp, dtype):
    return xp.fromfunction(lambda i, j, k: i * k + j, (2, 3), dtype=dtype, k=10)


@chainerx.testing.numpy_chainerx_array_equal(dtype_check=False, strides_check=False)
@pytest.mark.parametrize('indexing', ['xy', 'ij'])
def test_meshgrid(xp, indexing):
    return xp.meshgrid(xp.arange(2), xp.arange(3), indexing=indexing)


def test_meshgrid_of_a_list():
    x, y = chainerx.arange(2), chainerx.arange(3)
    for actual, expected in zip(chainerx.meshgrid([x, y]), chainerx.meshgrid(x, y), strict=True):
        chainerx.testing.assert_array_equal_ex(actual, expected)


def test_meshgrid_flattens():
    a = np.arange(4.0).reshape(2, 2)
    x = chainerx.array(a)
    for actual, expected in zip(chainerx.meshgrid(x, x[0]), np.meshgrid(a, a[0]), strict=True):
        chainerx.testing.assert_array_equal(actual, expected)
    (y,) = chainerx.meshgrid(x)
    chainerx.testing.assert_array_equal(y, [0, 1, 2, 3])


def test_meshgrid_bad_indexing():
    with pytest.raises(ValueError, match='indexing'):
        chainerx.meshgrid(chainerx.arange(2), indexing='yx')


def test_broadcast_arrays():
    a, b = chainerx.broadcast_arrays(chainerx.ones((2, 1)).require_grad(), chainerx.zeros(3))
    assert a.shape == b.shape == (2, 3)
    assert a.is_backprop_required() and not b.is_backprop_required()
    with pytest.raises(chainerx.DimensionError, match=r'\(2,\), \(3,\)'):
        chainerx.broadcast_arrays(chainerx.ones(2), chainerx.ones(3))


def test_diag_on_device():
    x = chainerx.arange(2)
    assert chainerx.diag(x).device.name == 'native:0'
    assert chainerx.diag(x, device='native:1').device.name == 'native:1'
    assert chainerx.diagflat(x, k=1, device='native:1').shape == (3, 3)
