"""Integers of NumPy as sizes, steps, axes and counts. From NumPy 2.4 on they look like sequences."""

import numpy as np
import pytest

import chainerx

X = np.arange(24.0).reshape(2, 3, 4)
IMAGE = np.arange(50.0).reshape(1, 2, 5, 5)
W = np.arange(8.0).reshape(1, 2, 2, 2)

# Functions of x, an image, filters, and a conversion of the integers.
CALLS = {
    'zeros': lambda x, im, w, n: chainerx.zeros(n(2)),
    'ones': lambda x, im, w, n: chainerx.ones((n(2), n(3))),
    'full': lambda x, im, w, n: chainerx.full(n(2), n(7), 'int64'),
    'ndarray': lambda x, im, w, n: chainerx.zeros_like(chainerx.ndarray(n(2))),
    'arange': lambda x, im, w, n: chainerx.arange(n(1), n(9), n(3)),
    'linspace': lambda x, im, w, n: chainerx.linspace(0, 1, n(3)),
    'eye': lambda x, im, w, n: chainerx.eye(n(2), n(3), n(1)),
    'identity': lambda x, im, w, n: chainerx.identity(n(2)),
    'tri': lambda x, im, w, n: chainerx.tri(n(2), n(3), n(1)),
    'tril': lambda x, im, w, n: chainerx.tril(x, n(-1)),
    'diag': lambda x, im, w, n: chainerx.diag(x[0], n(1)),
    'reshape': lambda x, im, w, n: chainerx.reshape(x, n(24)),
    'reshape of two': lambda x, im, w, n: chainerx.reshape(x, (n(6), n(-1))),
    'x.reshape': lambda x, im, w, n: x.reshape(n(24)),
    'x.reshape of two': lambda x, im, w, n: x.reshape(n(6), n(-1)),
    'transpose': lambda x, im, w, n: chainerx.transpose(x, [n(2), n(0), n(1)]),
    'x.transpose': lambda x, im, w, n: x.transpose(n(2), n(0), n(1)),
    'x.transpose of one': lambda x, im, w, n: x[0, 0].transpose(n(0)),
    'swapaxes': lambda x, im, w, n: chainerx.swapaxes(x, n(0), n(-1)),
    'moveaxis': lambda x, im, w, n: chainerx.moveaxis(x, n(0), n(2)),
    'rollaxis': lambda x, im, w, n: chainerx.rollaxis(x, n(2), n(1)),
    'expand_dims': lambda x, im, w, n: chainerx.expand_dims(x, n(1)),
    'squeeze': lambda x, im, w, n: chainerx.squeeze(x[:1], n(0)),
    'flip': lambda x, im, w, n: chainerx.flip(x, n(1)),
    'roll': lambda x, im, w, n: chainerx.roll(x, n(1), n(2)),
    'repeat': lambda x, im, w, n: chainerx.repeat(x, n(2), n(1)),
    'repeat each': lambda x, im, w, n: chainerx.repeat(x, (n(2), n(1)), n(0)),
    'tile': lambda x, im, w, n: chainerx.tile(x, n(2)),
    'pad': lambda x, im, w, n: chainerx.pad(x, n(1), 'constant'),
    'broadcast_to': lambda x, im, w, n: chainerx.broadcast_to(x[0, 0, 0], n(2)),
    'concatenate': lambda x, im, w, n: chainerx.concatenate([x, x], n(1)),
    'stack': lambda x, im, w, n: chainerx.stack([x, x], n(1)),
    'split': lambda x, im, w, n: chainerx.split(x, n(2), n(2))[1],
    'split at': lambda x, im, w, n: chainerx.split(x, [n(1), n(3)], n(2))[1],
    'take': lambda x, im, w, n: chainerx.take(x, chainerx.array([1]), n(2)),
    'take one': lambda x, im, w, n: chainerx.take(x, n(1), n(2)),
    'index': lambda x, im, w, n: x[n(1), n(0) : n(2)],
    'sum': lambda x, im, w, n: chainerx.sum(x, n(1)),
    'sum of two': lambda x, im, w, n: x.sum((n(0), n(1))),
    'max': lambda x, im, w, n: x.max(n(1)),
    'argmax': lambda x, im, w, n: chainerx.argmax(x, n(1)),
    'cumsum': lambda x, im, w, n: chainerx.cumsum(x, n(1)),
    'softmax': lambda x, im, w, n: chainerx.softmax(x, n(2)),
    'tensordot': lambda x, im, w, n: chainerx.tensordot(x, x.T, n(1)),
    'linear': lambda x, im, w, n: chainerx.linear(x, x[0], None, n(2)),
    'conv': lambda x, im, w, n: chainerx.conv(im, w, None, n(2), n(1)),
    'conv of two': lambda x, im, w, n: chainerx.conv(im, w, None, (n(2), n(1)), (n(1), n(0))),
    'conv_transpose': lambda x, im, w, n: chainerx.conv_transpose(
        im[:, :1], w, None, n(2), n(1), (n(8), n(8))
    ),
    'max_pool': lambda x, im, w, n: chainerx.max_pool(im, n(2), n(2), n(1)),
    'average_pool': lambda x, im, w, n: chainerx.average_pool(im, n(2), n(1), n(1)),
    'to_device': lambda x, im, w, n: x.to_device('native', n(1)),
    'frombuffer': lambda x, im, w, n: chainerx.frombuffer(bytes(9), 'uint8', n(2), n(3)),
}


@pytest.mark.parametrize('kind', [np.int64, np.int32, np.int8], ids=lambda k: k.__name__)
@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_integers_of_numpy(call, kind):
    arrays = [chainerx.array(a) for a in (X, IMAGE, W)]
    expected = call(*arrays, int)
    actual = call(*arrays, kind)
    assert actual.device is expected.device
    chainerx.testing.assert_array_equal_ex(actual, expected)
    assert actual.strides == expected.strides


def test_arrays_without_dimensions():
    n = np.array(2)
    assert chainerx.zeros(n).shape == (2,)
    assert chainerx.zeros((n, n)).shape == (2, 2)
    assert chainerx.ones((1, 2, 3)).sum(n).shape == (1, 2)


def test_random_sizes():
    for size in np.int64(3), (np.int64(3),), np.array(3):
        assert chainerx.random.uniform(0, 1, size).shape == (3,)
        assert chainerx.random.normal(0, 1, size).shape == (3,)
