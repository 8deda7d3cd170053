"""Convolutions of bfloat16, by its instructions or in float32, beside those of float64, rounded once."""

import numpy as np
import pytest

import chainer.functions as F

chainerx = pytest.importorskip('chainerx')
pytest.importorskip('ml_dtypes')
pytestmark = pytest.mark.chainerx

# channels, outputs, sizes, window, stride, pad, batch
SHAPES = {
    'pointwise': (5, 7, (6, 5), 1, 1, 0, 3),
    'pointwise with many channels': (70, 33, (9, 9), 1, 1, 0, 2),
    'pointwise with strides': (20, 9, (7, 6), 1, 2, 0, 2),
    'pointwise with strides that end early': (20, 9, (8, 9), 1, 3, 0, 2),
    'pointwise with padding': (20, 9, (6, 5), 1, 1, 1, 2),
    'one axis, pointwise': (18, 20, (11,), 1, 1, 0, 2),
    'three axes, pointwise': (18, 4, (3, 4, 2), 1, 2, 0, 2),
    'one pixel': (16, 8, (1, 1), 1, 1, 0, 1),
    'one output': (40, 1, (6, 6), 1, 1, 0, 2),
    'strides': (17, 20, (9, 8), 3, 2, 1, 3),
    'strides of many images': (16, 8, (31, 29), 3, 2, 1, 24),
    'large windows': (16, 6, (12, 13), 5, 1, 2, 2),
    'one axis': (20, 6, (30,), 3, 1, 1, 2),
    'three axes': (16, 4, (5, 4, 6), 2, 1, 0, 2),
    'few channels': (3, 8, (9, 9), 3, 2, 1, 2),
    '3x3 with many channels': (32, 32, (16, 17), 3, 1, 1, 1),
}
TRANSPOSED = 'pointwise', 'pointwise with strides', 'one axis, pointwise', 'strides'


def numbers(shape, seed):
    """Numbers that bfloat16 holds."""
    rng = np.random.RandomState(seed)
    return chainerx.array(rng.uniform(-1, 1, shape).astype('f')).astype('bfloat16')


def arrays(name, bias):
    c, o, sizes, window, stride, pad, n = SHAPES[name]
    x, w = numbers((n, c, *sizes), 0), numbers((o, c, *[window] * len(sizes)), 1)
    return x, w, numbers(o, 2) if bias else None, [stride] * len(sizes), [pad] * len(sizes)


def assert_rounded(actual, expected):
    """Compares with float64 by the error of one rounding, and of sums in float32."""
    assert actual.dtype == chainerx.bfloat16 and actual.shape == expected.shape
    actual = chainerx.to_numpy(actual.astype('float64'))
    expected = chainerx.to_numpy(expected)
    np.testing.assert_allclose(actual, expected, rtol=2**-8, atol=1e-4)


def wide(*values):
    return [None if a is None else a.astype('float64') for a in values]


@pytest.mark.parametrize('bias', [False, True], ids=['', 'bias'])
@pytest.mark.parametrize('cover_all', [False, True], ids=['', 'cover_all'])
@pytest.mark.parametrize('name', SHAPES)
def test_conv(name, cover_all, bias):
    x, w, b, stride, pad = arrays(name, bias)
    actual = chainerx.conv(x, w, b, stride, pad, cover_all)
    assert_rounded(actual, chainerx.conv(*wide(x, w, b), stride, pad, cover_all))


@pytest.mark.parametrize('name', SHAPES)
def test_gradients(name):
    values = arrays(name, True)
    grads = []
    for cast in (lambda *a: a), wide:
        *leaves, stride, pad = *cast(*values[:3]), *values[3:]
        for a in leaves:
            a.require_grad()
        y = chainerx.conv(*leaves, stride, pad)
        y.grad = cast(numbers(y.shape, 3))[0]
        y.backward()
        grads.append([a.grad for a in leaves])
        for a in leaves:
            a.cleargrad()
    for actual, expected in zip(*grads):
        assert_rounded(actual, expected)


@pytest.mark.parametrize('bias', [False, True], ids=['', 'bias'])
@pytest.mark.parametrize('name', TRANSPOSED)
def test_conv_transpose(name, bias):
    c, _, _, _, stride, pad, _ = SHAPES[name]
    x, w, _, strides, pads = arrays(name, False)
    y = numbers(chainerx.conv(x, w, None, strides, pads).shape, 4)
    b = numbers(c, 5) if bias else None
    actual = chainerx.conv_transpose(y, w, b, strides, pads)
    assert_rounded(actual, chainerx.conv_transpose(*wide(y, w, b), strides, pads))


@pytest.mark.parametrize('name', ['pointwise', 'pointwise with strides', 'strides', 'few channels'])
def test_arrays_with_gaps(name):
    x, w, b, stride, pad = arrays(name, True)
    expected = chainerx.conv(x, w, b, stride, pad)
    gaps = chainerx.zeros((*x.shape[:-1], 2 * x.shape[-1]), 'bfloat16')
    gaps[..., ::2] = x
    turned = chainerx.array(w.T).T
    actual = chainerx.conv(gaps[..., ::2], turned, b, stride, pad)
    np.testing.assert_array_equal(*[chainerx.to_numpy(a.astype('f')) for a in (actual, expected)])


@pytest.mark.parametrize('groups', [2, 4])
@pytest.mark.parametrize('window, stride', [(1, 1), (1, 2), (3, 2)])
def test_groups(window, stride, groups):
    x, w = numbers((2, 8, 7, 6), 0), numbers((12, 8 // groups, window, window), 1)
    actual = F.convolution_2d(x, w, stride=stride, groups=groups)
    expected = F.convolution_2d(*wide(x, w), stride=stride, groups=groups)
    assert_rounded(actual.array, expected.array)


@pytest.mark.parametrize('shape', [(0, 20, 4, 4), (2, 0, 4, 4)])
def test_empty(shape):
    x, w = numbers(shape, 0), numbers((3, shape[1], 1, 1), 1)
    y = chainerx.conv(x, w)
    assert y.shape == (shape[0], 3, 4, 4) and not chainerx.to_numpy(y.astype('f')).any()


def test_numbers_that_are_not_finite():
    x = chainerx.array(np.array([np.inf, -np.inf, np.nan, 3e38], 'f')).astype('bfloat16')
    x = chainerx.broadcast_to(x, (1, 16, 1, 4))
    y = chainerx.conv(x, chainerx.ones((1, 16, 1, 1), 'bfloat16'))
    np.testing.assert_array_equal(
        chainerx.to_numpy(y.astype('f')).ravel(), [np.inf, -np.inf, np.nan, np.inf]
    )
