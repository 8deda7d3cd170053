"""Reading and writing elements by all kinds of indices, and gradients through them."""

import numpy as np
import pytest

import chainer
import chainerx

A = np.arange(2 * 3 * 4, dtype='float64').reshape(2, 3, 4)
MASK = A % 3 == 0

BASIC = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(5, 9),
    (slice(None), slice(None, None, 2)),
    (slice(None), slice(2, 0, -1), slice(-3, None, 2)),
    Ellipsis,
    (Ellipsis, 1),
    (0, Ellipsis, slice(1, 3)),
    None,
    (None, 1, None),
    (Ellipsis, None),
    (),
    (slice(None), None, slice(1, 2)),
    np.int64(1),
    (np.int8(1), -1),
]
ADVANCED = [
    [1, 0, 1],
    np.array([0, -1]),
    (slice(None), [2, 0]),
    (slice(None), np.array([[0, 1], [2, -1]])),
    ([0, 1], [2, 0]),
    ([0, 1], slice(None), [3, 0]),
    (np.array([[0], [1]]), np.array([0, 2])),
    (0, slice(None), [1, 3]),
    ([0, 1], slice(None), 0),
    (slice(None), 0, [1, 3]),
    (slice(None), [0, 2], 1),
    (slice(None), [0, 2], slice(1, 3)),
    (Ellipsis, [0, -1]),
    ([1, 0], None, slice(None), 2),
    (slice(None), [0, 2], None, [1, 1]),
    (1, [0, 2], [3, 0]),
    [],
    (slice(None), []),
    MASK,
    MASK[:, :, 0],
    (slice(None), np.array([True, False, True])),
    np.zeros((2, 3, 4), bool),
    (0, MASK[0]),
    (MASK[:, 0, 0], [1]),
    (Ellipsis, np.array([True, False, False, True])),
    ([[0, 1], [1, 0]], [[2, 0], [0, 1]], [[3, 0], [1, 1]]),
    np.array([1, 0], 'uint8'),
    np.array([1, 0], 'uint64'),
]
ALL = BASIC + ADVANCED


def to_chainerx(key):
    """The same index with ChainerX arrays in place of NumPy's."""
    if isinstance(key, tuple):
        return tuple(map(to_chainerx, key))
    return chainerx.array(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize('key', ALL, ids=str)
def test_read(key):
    for convert in to_chainerx, lambda k: k:
        y = chainerx.array(A)[convert(key)]
        chainerx.testing.assert_array_equal_ex(y, np.asarray(A[key]), strides_check=False)


@pytest.mark.parametrize('key', ALL, ids=str)
def test_read_of_view(key):
    x = chainerx.array(np.ascontiguousarray(A.T)).T
    chainerx.testing.assert_array_equal(x[to_chainerx(key)], A[key])


@pytest.mark.parametrize('key', BASIC, ids=str)
def test_basic_index_is_a_view(key):
    x = chainerx.array(A)
    y = x[key]
    assert y.data_ptr == x.data_ptr
    y.fill(-1)
    expected = A.copy()
    expected[key] = -1
    chainerx.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize('key', ALL, ids=str)
@pytest.mark.parametrize('kind', ['scalar', 'array', 'row'])
def test_write(key, kind):
    expected = A.copy()
    shape = A[key].shape
    value = {
        'scalar': 7.5,
        'array': -1 - np.arange(np.prod(shape, dtype=int)).reshape(shape),
        'row': np.array(-3.0)[(None,) * min(len(shape), 1)],
    }[kind]
    # Repeated indices take any of the values: NumPy's order is not promised.
    repeated = any(
        np.size(k) != len(np.unique(k))
        for k in (key if isinstance(key, tuple) else (key,))
        if isinstance(k, (list, np.ndarray)) and np.asarray(k).dtype != bool
    )
    if kind == 'array' and repeated:
        value = np.zeros(shape)
    expected[key] = value
    for convert in to_chainerx, lambda k: k:
        x = chainerx.array(A)
        x[convert(key)] = chainerx.array(value) if kind == 'array' else value
        chainerx.testing.assert_array_equal(x, expected)
        x = chainerx.array(np.ascontiguousarray(A.T)).T
        x[convert(key)] = value
        chainerx.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize('key', ALL, ids=str)
def test_gradients(key):
    key = to_chainerx(key)

    def f(xs):
        y = xs[0][key]
        return [y * y]

    rng = np.random.default_rng(0)
    x = chainerx.array(rng.normal(size=A.shape)).require_grad()
    gy = chainerx.array(rng.normal(size=x[key].shape)).require_grad()
    eps = [chainerx.full_like(a, 1e-3) for a in (x, gy)]
    chainerx.check_backward(f, [x], [gy.as_grad_stopped()], eps[:1])
    chainerx.check_double_backward(f, [x], [gy], [chainerx.ones_like(x)], eps)


def test_gradient_of_repeated_indices():
    x = chainerx.zeros(3).require_grad()
    x[[0, 2, 2]].sum().backward()
    chainerx.testing.assert_array_equal(x.grad, [1, 0, 2])


@pytest.mark.parametrize(
    'key', [slice(1, 0), slice(5, None), slice(0, 1, 2), slice(9, 0), slice(1, 1, 3)]
)
def test_place_in_memory_of_slices(key):
    """As of the first element, even if there is none."""
    x = chainerx.array(A)
    start, _, step = key.indices(len(A))
    y = x[key]
    assert (y.offset, y.strides[0]) == (start * A.strides[0], step * A.strides[0])
    assert x[key][..., None].shape == A[key][..., None].shape
    assert x[::-1][9::-1].offset >= 0 and x[-9::-1].offset == 0


@pytest.mark.parametrize(
    'key, error',
    [
        (2, IndexError),
        (-3, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        (1.5, IndexError),
        ('a', IndexError),
        ([0, 2], IndexError),
        ([0.5], IndexError),
        (np.array([-3]), IndexError),
        (np.ones((3, 3), bool), IndexError),
        (slice(0, 2, 0), chainerx.DimensionError),
        (slice('a'), TypeError),
        (([0, 1], [0, 1, 2]), (IndexError, chainerx.DimensionError)),
        ({}, IndexError),
    ],
    ids=str,
)
def test_errors(key, error):
    x = chainerx.array(A)
    # A GPU finds errors in data later, and has then written where indices are valid.
    with pytest.raises(error):
        x[key]
        x.device.synchronize()
    with pytest.raises(error):
        x[key] = 1
        x.device.synchronize()
    if x.device.backend.name == 'native':
        chainerx.testing.assert_array_equal(x, A)


def test_write_errors():
    x = chainerx.array(A)
    for value in np.ones(3), np.ones((2, 2, 3, 4)):
        with pytest.raises(chainerx.DimensionError):
            x[:] = value
    with pytest.raises(TypeError):
        del x[0]
    with pytest.raises((TypeError, ValueError, chainerx.DtypeError)):
        x[0] = 'a'
    chainerx.testing.assert_array_equal(x, A)


def test_write_into_graph_is_refused():
    x = chainerx.ones(3).require_grad()
    y = x * 2
    with pytest.raises(chainerx.ChainerxError):
        y[0] = 1
    with pytest.raises(chainerx.ChainerxError):
        x[0] = 1
    with pytest.raises(chainerx.ChainerxError, match='as_grad_stopped'):
        chainerx.zeros(3)[0] = x[0]


def test_write_converts():
    x = chainerx.zeros(3, 'int32')
    x[:2] = np.array([1.7, 2.2])
    x[2:] = chainerx.ones(1, 'float64')
    chainerx.testing.assert_array_equal(x, [1, 2, 1])
    y = chainerx.zeros(2)
    y[:] = chainerx.ones(2, device='native:1')
    chainerx.testing.assert_array_equal(y, [1, 1])


def test_write_to_self():
    x = chainerx.arange(5)
    x[1:] = x[:-1]
    chainerx.testing.assert_array_equal(x, [0, 0, 1, 2, 3])
    x[::-1] = x
    chainerx.testing.assert_array_equal(x, [3, 2, 1, 0, 0])


def test_large_take_and_masks():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(300, 40))
    index = rng.integers(-300, 300, (500,))
    x = chainerx.array(a)
    chainerx.testing.assert_array_equal(x.take(chainerx.array(index), axis=0), a[index])
    chainerx.testing.assert_array_equal(x[chainerx.array(a > 0)], a[a > 0])
    assert [i.tolist() for i in chainerx.nonzero(x > 0)] == [i.tolist() for i in np.nonzero(a > 0)]


# ---------------------------------------------------------------- masks that take nothing

NO_PAIRS = [
    ((0,), np.zeros(0, bool)),
    ((3,), np.zeros(0, bool)),
    ((3,), np.zeros(3, bool)),
    ((0, 3), np.zeros(0, bool)),
    ((0, 3), np.ones((0, 3), bool)),
    ((2, 3), np.zeros(0, bool)),
    ((2, 3), np.zeros((2, 0), bool)),
    ((2, 3), np.zeros((2, 3), bool)),
    ((2, 0, 3), np.ones((2, 0), bool)),
    ((2, 0), (slice(None), np.ones(0, bool))),
    ((2, 3), (slice(None), np.zeros(3, bool))),
    ((2, 3), (slice(None), np.zeros(0, bool))),
    ((2, 3), (np.zeros(2, bool), np.zeros(3, bool))),
    ((2, 3), (np.zeros(2, bool), 0)),
    ((2, 3), (1, np.zeros(3, bool))),
    ((2, 3, 4), (np.zeros(2, bool), slice(None), np.zeros(4, bool))),
    ((2, 3, 4), (np.zeros(2, bool), slice(1, None), None)),
    ((2, 3), []),
    ((0, 3), []),
    ((2, 3), np.zeros((0, 2), int)),
    ((), np.zeros((), bool)),
]


def _on_chainerx(index):
    if isinstance(index, tuple):
        return tuple(_on_chainerx(i) for i in index)
    return chainerx.array(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize('shape, index', NO_PAIRS)
@pytest.mark.parametrize('of_chainerx', [True, False])
def test_masks_that_take_nothing(shape, index, of_chainerx):
    x = np.ones(shape, 'f')
    expected = x[index]
    assert expected.size == 0
    given = _on_chainerx(index) if of_chainerx else index

    cx = chainerx.array(x).require_grad()
    y = cx[given]
    assert (y.shape, y.dtype) == (expected.shape, 'float32')
    chainerx.backward(y, enable_double_backprop=True)
    np.testing.assert_array_equal(chainerx.to_numpy(cx.grad), np.zeros(shape))

    cx = chainerx.array(x)
    cx[given] = 5
    cx[given] = chainerx.zeros(expected.shape)
    np.testing.assert_array_equal(chainerx.to_numpy(cx), x)


@pytest.mark.parametrize('shape, index', NO_PAIRS)
def test_variables_and_masks_that_take_nothing(shape, index):
    x = chainer.Variable(chainerx.array(np.ones(shape, 'f')))
    y = chainer.functions.get_item(x, index)
    expected = np.ones(shape, 'f')[tuple(index) if isinstance(index, tuple) else index]
    assert y.shape == expected.shape
    y.grad = chainerx.ones_like(y.array)
    y.backward()
    np.testing.assert_array_equal(chainerx.to_numpy(x.grad), np.zeros(shape))


@pytest.mark.parametrize(
    'shape, index',
    [
        ((3,), np.zeros(2, bool)),
        ((2, 3), np.zeros(3, bool)),
        ((0, 3), np.zeros(2, bool)),
        ((2, 3), np.zeros((2, 2), bool)),
        ((3,), np.zeros((0, 0), bool)),
        ((3,), np.zeros(0)),
    ],
)
def test_masks_that_do_not_fit(shape, index):
    x = np.ones(shape, 'f')
    with pytest.raises(IndexError):
        x[index]
    with pytest.raises(IndexError):
        chainerx.array(x)[index]
    with pytest.raises(IndexError):
        chainerx.array(x)[chainerx.array(index)]
