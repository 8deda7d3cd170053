"""The forms in which programs for Chainer 7 and NumPy give arguments."""

import inspect

import numpy as np
import pytest

import chainerx

X = np.arange(48.0).reshape(2, 4, 6)
SPLITS = {
    'split': lambda xp, x, s: xp.split(x, s, 2),
    'array_split': lambda xp, x, s: xp.array_split(x, s, 2),
    'vsplit': lambda xp, x, s: xp.vsplit(x.swapaxes(0, 2), s),
    'hsplit': lambda xp, x, s: xp.hsplit(x.swapaxes(1, 2), s),
    'dsplit': lambda xp, x, s: xp.dsplit(x, s),
}
#: Sections that NumPy takes, too; those of ChainerX stand for NumPy's.
SECTIONS = {
    'array': np.array([1, 4]),
    'sums': np.cumsum([1, 2, 2]),
    'unsigned': np.array([2, 3], np.uint8),
    'strided': np.arange(6)[1::2],
    'empty': np.zeros(0, np.int64),
    'array of one': np.array([2]),
    'array of no axes': np.array(3),
    'number': np.int32(3),
    'tuple': (np.int64(1), 4),
    'negative': np.array([-2]),
    'whole float': 2.0,
    'whole number of NumPy': np.float32(3),
    'array of a whole float': np.array(2.0),
    'chainerx': chainerx.array([1, 4]),
    'chainerx of no axes': chainerx.array(3),
    'chainerx of no elements': chainerx.zeros(0, 'int64'),
}


@pytest.mark.parametrize('split', SPLITS)
@pytest.mark.parametrize('sections', SECTIONS)
def test_sections(split, sections):
    given = SECTIONS[sections]
    x = chainerx.array(X).require_grad()
    actual = SPLITS[split](chainerx, x, given)
    same = chainerx.to_numpy(given) if isinstance(given, chainerx.ndarray) else given
    expected = SPLITS[split](np, X, same)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(chainerx.to_numpy(a.as_grad_stopped()), e)
    chainerx.sum(actual[-1] * 3).backward()
    assert float(chainerx.to_numpy(x.grad).sum()) == 3 * expected[-1].size


@pytest.mark.parametrize('split', SPLITS)
@pytest.mark.parametrize(
    'sections, error, text',
    [
        (2.5, ValueError, 'must be a whole number, not 2.5'),
        (np.float32(0.5), ValueError, 'whole number'),
        (float('nan'), ValueError, 'whole number'),
        (float('inf'), ValueError, 'whole number'),
        (0.0, chainerx.DimensionError, 'must be positive'),
        (np.array([1.0, 2.0]), TypeError, 'must be an integer, not float'),
        (np.array([[1, 2]]), TypeError, 'must be an integer, not list'),
        (chainerx.ones((1, 2), 'int32'), TypeError, 'must be an integer, not list'),
        ([1.0], TypeError, 'must be an integer, not float'),
        ('a', TypeError, 'must be an integer, not str'),
        (None, TypeError, 'must be an integer, not NoneType'),
    ],
)
def test_wrong_sections(split, sections, error, text):
    with pytest.raises(error, match=text):
        SPLITS[split](chainerx, chainerx.array(X), sections)


@pytest.mark.parametrize('axes', [np.array([[2], [0]]), [np.array([1, 2]), np.array([0, 1])]])
def test_axes_of_tensordot(axes):
    y = X.transpose(1, 2, 0)
    if len(axes[0]) == 1:
        y = X
    expected = np.tensordot(X, y.T if len(axes[0]) == 1 else y, axes)
    actual = chainerx.tensordot(
        chainerx.array(X), chainerx.array(y.T if len(axes[0]) == 1 else y), axes
    )
    np.testing.assert_allclose(chainerx.to_numpy(actual), expected)


@pytest.mark.parametrize('name', ['eigh', 'eigvalsh'])
def test_triangles(name):
    a = chainerx.array([[2.0, 9.0], [1.0, 3.0]])
    for upper, lower in ('L', 'l'), ('U', 'u'):
        expected = getattr(np.linalg, name)(chainerx.to_numpy(a), upper)
        expected = expected[0] if name == 'eigh' else expected
        for uplo in upper, lower:
            w = getattr(chainerx.linalg, name)(a, uplo)
            w = w[0] if name == 'eigh' else w
            np.testing.assert_allclose(chainerx.to_numpy(w), expected)
    for wrong, error in ('X', ValueError), ('ll', ValueError), ('', ValueError), (1, TypeError):
        with pytest.raises(error, match='UPLO must be'):
            getattr(chainerx.linalg, name)(a, UPLO=wrong)


# ---------------------------------------------------------------- order of arguments

#: Positional arguments in Chainer 7. Later arguments are new.
ORDER = {
    'arange': 'start stop step dtype device',
    'array': 'object dtype copy device',
    'ascontiguousarray': 'a dtype',
    'copy': 'a',
    'diag': 'v k',
    'diagflat': 'v k',
    'empty': 'shape dtype device',
    'empty_like': 'a device',
    'eye': 'N M k dtype device',
    'frombuffer': 'buffer dtype count offset device',
    'full': 'shape fill_value dtype device',
    'full_like': 'a fill_value device',
    'identity': 'n dtype device',
    'linspace': 'start stop num endpoint dtype device',
    'ones': 'shape dtype device',
    'ones_like': 'a device',
    'tri': 'N M k dtype device',
    'tril': 'm k',
    'triu': 'm k',
    'zeros': 'shape dtype',
    'zeros_like': 'a device',
}


@pytest.mark.parametrize('name', ORDER)
def test_order_of_creation(name):
    names = ORDER[name].split()
    assert list(inspect.signature(getattr(chainerx, name)).parameters)[: len(names)] == names


@pytest.mark.parametrize('name', ['empty_like', 'full_like', 'ones_like', 'zeros_like'])
def test_device_of_likes(name):
    values = (2,) if name == 'full_like' else ()
    make = getattr(chainerx, name)
    x = chainerx.ones(3, 'int16')
    for device in 'native:1', chainerx.get_device('native:1'):
        y = make(x, *values, device)
        assert (y.device.name, y.dtype, y.shape) == ('native:1', x.dtype, (3,))
    assert make(x, *values, None, 'float64').dtype == 'float64'
    assert make(x, *values, None).device is x.device
    with pytest.raises(chainerx.BackendError):
        make(x, *values, 'float32')


# ---------------------------------------------------------------- arrays outside of graphs


def test_as_grad_stopped():
    with chainerx.backprop_scope('one') as one, chainerx.backprop_scope('two') as two:
        x = chainerx.array([1.0]).require_grad().require_grad(one).require_grad(two)
        y = x * 2

        def graphs(z):
            return [z.is_backprop_required(i) for i in (None, one, two)]

        stopped = [
            (lambda: y.as_grad_stopped(), False, [False] * 3),
            (lambda: y.as_grad_stopped(False), False, [False] * 3),
            (lambda: y.as_grad_stopped(True), True, [False] * 3),
            (lambda: y.as_grad_stopped(copy=True), True, [False] * 3),
            (lambda: y.as_grad_stopped([]), False, [True] * 3),
            (lambda: y.as_grad_stopped([], True), True, [True] * 3),
            (lambda: y.as_grad_stopped([], copy=True), True, [True] * 3),
            (lambda: y.as_grad_stopped((), copy=False), False, [True] * 3),
            (lambda: y.as_grad_stopped([one]), False, [True, False, True]),
            (lambda: y.as_grad_stopped([one, two], copy=True), True, [True, False, False]),
            (lambda: y.as_grad_stopped(backprop_ids=[two], copy=True), True, [True, True, False]),
            (lambda: y.as_grad_stopped(True, [two]), True, [True, True, False]),
            (lambda: y.as_grad_stopped(False, backprop_ids=[one]), False, [True, False, True]),
        ]
        for stop, copies, expected in stopped:
            z = stop()
            assert graphs(z) == expected
            assert (z.data_ptr != y.data_ptr) == copies
            assert z.as_grad_stopped().tolist() == [2]
        wrong = [
            lambda: y.as_grad_stopped([], True, 1),
            lambda: y.as_grad_stopped([], backprop_ids=[]),
            lambda: y.as_grad_stopped(True, copy=True),
            lambda: y.as_grad_stopped([1]),
            lambda: y.as_grad_stopped('a'),
            lambda: y.as_grad_stopped(one),
        ]
        for stop in wrong:
            with pytest.raises(TypeError):
                stop()
