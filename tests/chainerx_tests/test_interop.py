"""Exchange with NumPy, the buffer protocol, and DLPack."""

import gc
import operator
import pickle
import weakref
import zlib
from array import array

import numpy as np
import pytest

import chainerx

DTYPES = [np.dtype(t).name for t in chainerx.all_dtypes]


def views(x):
    yield from (x, x.T, x[::2, ::-1], x[:0], x[0, 0])


def base():
    return np.arange(12).reshape(3, 4)


# ---- NumPy


@pytest.mark.parametrize('dtype', DTYPES)
def test_numpy_shares_memory(dtype):
    for a in views(base().astype(dtype)):
        x = chainerx.asarray(a) if a.ndim else chainerx.array(a)
        chainerx.testing.assert_array_equal_ex(x, a)
        b = chainerx.to_numpy(x, copy=False)
        assert (b.dtype, b.shape, b.strides) == (a.dtype, x.shape, x.strides)
        np.testing.assert_array_equal(b, a)
        if a.size:
            b[...] = 1
            chainerx.testing.assert_array_equal(x, np.ones(a.shape))
            if a.ndim:
                np.testing.assert_array_equal(a, np.ones(a.shape))


def test_to_numpy_copies_by_default():
    x = chainerx.zeros(3)
    a = chainerx.to_numpy(x)
    a[0] = 5
    chainerx.testing.assert_array_equal(x, [0, 0, 0])
    assert chainerx.to_numpy(x[::-1]).shape == (3,)


def test_owners_stay_alive():
    a = np.ones(3)
    ref = weakref.ref(a)
    x = chainerx.asarray(a)
    y = x[1:]
    del a, x
    assert ref() is not None
    chainerx.testing.assert_array_equal(y, [1, 1])
    del y
    gc.collect()
    assert ref() is None
    b = chainerx.to_numpy(chainerx.ones(3), copy=False)
    np.testing.assert_array_equal(b, [1, 1, 1])


def test_numpy_functions_take_arrays():
    x = chainerx.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(np.asarray(x), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(np.array(x, dtype='int8'), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(np.array(x.T), [[1, 3], [2, 4]])
    assert not np.shares_memory(np.array(x), np.asarray(x))
    a = np.zeros((2, 2))
    a[...] = x
    np.testing.assert_array_equal(a, [[1, 2], [3, 4]])


@pytest.mark.parametrize('device', ['native:0', 'native:1'])
@pytest.mark.parametrize(
    'op', [operator.add, operator.sub, operator.pow, operator.lt, operator.eq, operator.iadd]
)
def test_the_right_operand_can_be_of_numpy(op, device):
    a = np.array([[1, 2], [3, 4]], 'float32')
    x = chainerx.array([2, 3], 'float32', device=device)
    x = chainerx.broadcast_to(x, (2, 2)).copy()
    expected = op(chainerx.to_numpy(x), a)
    y = op(x, a)
    assert y.device is x.device and (y is x) == (op is operator.iadd)
    chainerx.testing.assert_array_equal(y, expected)


def test_gradients_of_operators_with_numpy():
    x = chainerx.array([2.0, 3.0]).require_grad()
    (x * np.array([5.0, 7.0])).sum().backward()
    assert x.grad.tolist() == [5, 7]
    with pytest.raises(chainerx.DtypeError):
        x + np.ones(2, 'clongdouble')


def test_the_left_operand_cannot_be_of_numpy():
    x, a = chainerx.ones(2), np.ones(2)
    for f in (
        lambda: a + x,
        lambda: np.add(a, x),
        lambda: np.sin(x),
    ):
        with pytest.raises(TypeError, match="'chainerx.ndarray'"):
            f()
    assert not x == 'x' and x != None  # noqa: E711


@pytest.mark.parametrize('number', [np.float32(2), np.float64(2), np.int64(2)])
def test_operators_take_numbers_of_numpy(number):
    x = chainerx.array([1.0, 3.0], 'float32')
    for y, expected in (
        (number * x, [2, 6]),
        (number - x, [1, -1]),
        (x - number, [-1, 1]),
        (number < x, [False, True]),
        (number == x, [False, False]),
    ):
        assert isinstance(y, chainerx.ndarray) and y.dtype in (np.float32, np.bool_)
        np.testing.assert_array_equal(chainerx.to_numpy(y), expected)


GRAPHS = [lambda x: x, lambda x: x * 2]


@pytest.mark.parametrize('make', GRAPHS)
@pytest.mark.parametrize(
    'leave, error',
    [
        (lambda x: np.asarray(x), (chainerx.ChainerxError, BufferError)),
        (lambda x: np.array(x), (chainerx.ChainerxError, BufferError)),
        (memoryview, BufferError),
        (lambda x: x.__dlpack__(), BufferError),
        (lambda x: np.from_dlpack(x), BufferError),
    ],
)
def test_array_with_graph_does_not_leave(make, leave, error):
    x = make(chainerx.ones(2).require_grad())
    with pytest.raises(error, match='as_grad_stopped'):
        leave(x)
    leave(x.as_grad_stopped())
    with chainerx.no_backprop_mode():
        leave(x)


@pytest.mark.parametrize('make', GRAPHS)
@pytest.mark.parametrize('copy', [True, False])
def test_to_numpy_leaves_the_graph(make, copy):
    x = make(chainerx.ones(2).require_grad())
    a = chainerx.to_numpy(x, copy=copy)
    assert type(a) is np.ndarray and a.tolist() == x.tolist()
    a[0] = 9
    assert (x.tolist()[0] == 9) is not copy


def test_to_numpy_of_other_objects():
    for value in np.ones(2), 3, None:
        with pytest.raises(TypeError):
            chainerx.to_numpy(value)


# ---- buffers


@pytest.mark.parametrize('dtype', DTYPES)
def test_export_buffer(dtype):
    for x in views(chainerx.array(base(), dtype)):
        view = memoryview(x)
        assert (view.shape, view.strides, view.itemsize) == (x.shape, x.strides, x.itemsize)
        assert view.nbytes == x.nbytes and not view.readonly
        np.testing.assert_array_equal(np.asarray(view), chainerx.to_numpy(x))


def test_contiguous_buffers_only():
    x = chainerx.array(base())
    assert bytes(x) == base().tobytes()
    assert bytes(x.T) == base().T.tobytes()
    with pytest.raises(BufferError, match='contiguous'):
        zlib.crc32(x.T)
    np.testing.assert_array_equal(np.frombuffer(x, 'int64'), np.arange(12))


def test_buffer_keeps_memory():
    x = chainerx.ones(2)
    view = memoryview(x)
    del x
    assert view.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    'make',
    [lambda: bytearray(b'abc'), lambda: memoryview(bytearray(b'abc')), lambda: array('d', [1, 2])],
)
def test_import_of_buffers(make):
    buffer = make()
    x = chainerx.asarray(buffer)
    np.testing.assert_array_equal(chainerx.to_numpy(x), np.asarray(buffer))
    x[0] = 9
    assert buffer[0] == 9


def test_pickled_buffer_is_out_of_reach():
    x = chainerx.ones(2)
    y = pickle.loads(pickle.dumps(x))
    y[0] = 3
    chainerx.testing.assert_array_equal(x, [1, 1])


# ---- DLPack

# NumPy 1 takes every array from DLPack as read-only, and does not export such ones.
NUMPY_1 = np.lib.NumpyVersion(np.__version__) < '2.0.0'


def _torch():
    return pytest.importorskip('torch')


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('library', ['numpy', 'torch'])
def test_dlpack_export(library, dtype):
    xp = np if library == 'numpy' else _torch()
    for x in views(chainerx.array(base() + 1, dtype)):
        if library == 'torch' and any(s < 0 for s in x.strides):
            continue  # torch has no negative strides
        a = xp.from_dlpack(x)
        assert a.shape == x.shape
        np.testing.assert_array_equal(np.asarray(a), chainerx.to_numpy(x))
        if x.size and not (NUMPY_1 and library == 'numpy'):
            a[...] = 0
            chainerx.testing.assert_array_equal(x, np.zeros(x.shape))


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('library', ['numpy', 'torch'])
def test_dlpack_import(library, dtype):
    for a in views(base().astype(dtype)):
        if a.ndim == 0:
            continue
        source = a
        if library == 'torch':
            torch = _torch()
            if any(s < 0 for s in a.strides):
                continue
            source = torch.from_numpy(a)
        x = chainerx.from_dlpack(source)
        chainerx.testing.assert_array_equal_ex(x, a, strides_check=a.size > 0)
        if a.size:
            x.fill(1)
            np.testing.assert_array_equal(a, np.ones(a.shape))


def test_dlpack_protocol():
    x = chainerx.ones(2, device='native:1')
    assert x.__dlpack_device__() == (1, 0)
    assert 'dltensor"' in repr(x.__dlpack__())
    assert 'dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert 'dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    x.__dlpack__(stream=None, dl_device=(1, 0), copy=False)
    with pytest.raises(ValueError, match='stream'):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match='CPU'):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        x.__dlpack__(max_version='1')


def test_dlpack_copy():
    class Producer:
        def __init__(self, x):
            self.x = x

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

        def __dlpack__(self, **kwargs):
            return self.x.__dlpack__(copy=True, **kwargs)

    x = chainerx.zeros(2)
    y = chainerx.from_dlpack(Producer(x))
    y += 1
    chainerx.testing.assert_array_equal(x, [0, 0])
    a = np.zeros(2)
    z = chainerx.from_dlpack(a, copy=True)
    z += 1
    np.testing.assert_array_equal(a, [0, 0])


def test_dlpack_of_old_producers():
    class Producer:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, stream=None):
            return self.a.__dlpack__()

    a = np.arange(3.0)
    x = chainerx.from_dlpack(Producer(a))
    x += 1
    np.testing.assert_array_equal(a, [1, 2, 3])


def test_dlpack_lifetime():
    a = np.ones(3)
    x = chainerx.from_dlpack(a)
    y = x if NUMPY_1 else chainerx.from_dlpack(np.from_dlpack(x))
    del a, x
    chainerx.testing.assert_array_equal(y, [1, 1, 1])
    capsule = y.__dlpack__(max_version=(1, 0))  # never consumed
    del y
    gc.collect()
    del capsule
    b = np.from_dlpack(chainerx.ones(2))
    np.testing.assert_array_equal(b, [1, 1])


def test_dlpack_of_arrays_and_devices():
    x = chainerx.ones(2)
    assert chainerx.from_dlpack(x) is x
    assert chainerx.from_dlpack(x, copy=True) is not x
    assert chainerx.from_dlpack(x, device='native:1').device.name == 'native:1'
    assert chainerx.from_dlpack(np.ones(2), device='native:2').device.name == 'native:2'


def test_dlpack_of_read_only_memory():
    a = np.arange(3.0)
    a.flags.writeable = False
    try:
        a.__dlpack__(max_version=(1, 0))
    except (BufferError, TypeError):
        pytest.skip('this NumPy does not export read-only memory')
    x = chainerx.from_dlpack(a)
    x += 1
    np.testing.assert_array_equal(a, [0, 1, 2])
    with pytest.raises(BufferError, match='read-only'):
        chainerx.from_dlpack(a, copy=False)


@pytest.mark.parametrize('value', [3, [1, 2], None, 'a'], ids=repr)
def test_dlpack_of_other_objects(value):
    with pytest.raises(TypeError, match='__dlpack__'):
        chainerx.from_dlpack(value)


def test_dlpack_of_unsupported_dtypes():
    with pytest.raises((chainerx.DtypeError, BufferError)):
        chainerx.from_dlpack(np.ones(2, 'clongdouble'))


# ---- raw pointers


def test_fromrawpointer():
    a = np.arange(6, dtype='int32')
    x = chainerx._core._fromrawpointer(a.ctypes.data, (2, 2), 'int32', (12, 4), 'native:0', 4, a)
    chainerx.testing.assert_array_equal(x, [[1, 2], [4, 5]])
    x[0, 0] = 9
    assert a[1] == 9
    del a
    chainerx.testing.assert_array_equal(x, [[9, 2], [4, 5]])
    with pytest.raises(chainerx.ChainerxError):
        chainerx._core._fromrawpointer(0, (2,), 'int32', (4,), 'cuda:0', 0, None)
    with pytest.raises(chainerx.DimensionError):
        chainerx._core._fromrawpointer(0, (2,), 'int32', (4, 4), 'native:0', 0, None)


def test_to_cupy_needs_cuda():
    with pytest.raises(NotImplementedError, match='native:0.*CUDA'):
        chainerx._core._to_cupy(chainerx.ones(2))


@pytest.mark.parametrize('scalar', [np.float32(2), np.float64(2), np.int64(2), np.float16(2)])
@pytest.mark.parametrize(
    'op',
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.pow,
        operator.lt,
        operator.eq,
    ],
)
def test_numpy_scalars_on_the_left(scalar, op):
    a = np.array([1, 2, 4], 'float32')
    y = op(scalar, chainerx.array(a))
    assert isinstance(y, chainerx.ndarray)
    chainerx.testing.assert_allclose(y, op(2, a))
    assert y.dtype == op(2, a).dtype
