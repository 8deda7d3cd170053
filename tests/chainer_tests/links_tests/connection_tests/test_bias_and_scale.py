import numpy
import pytest

import chainer
import chainer.links as L
from chainer import testing

X = numpy.arange(12, dtype='f').reshape(2, 3, 2)
V = numpy.array([1, 2, 3], 'f')
COLUMN = V[:, None]


def test_bias():
    link = L.Bias(axis=1, shape=(3,))
    testing.assert_allclose(link.b.array, 0)
    link.b.array[...] = V
    testing.assert_allclose(link(X).array, X + COLUMN)
    testing.assert_allclose(L.Bias()(X, V).array, X + COLUMN)


def test_scale():
    link = L.Scale(axis=1, W_shape=(3,), bias_term=True)
    assert sorted(name for name, _ in link.namedparams()) == ['/W', '/bias/b']
    testing.assert_allclose(link(X).array, X)
    link.W.array[...] = V
    link.bias.b.array[...] = 1
    testing.assert_allclose(link(X).array, X * COLUMN + 1)
    testing.assert_allclose(L.Scale()(X, V).array, X * COLUMN)
    link = L.Scale(bias_term=True, bias_shape=(3,))
    testing.assert_allclose(link(X, V).array, X * COLUMN)


def test_errors():
    with pytest.raises(ValueError, match='bias_shape'):
        L.Scale(bias_term=True)
    for call in (
        lambda: L.Bias()(X),
        lambda: L.Bias(shape=(3,))(X, V),
        lambda: L.Scale()(X),
        lambda: L.Scale(W_shape=(3,))(X, V),
    ):
        with pytest.raises(ValueError, match='expected'):
            call()
        with chainer.using_config('debug', True), pytest.raises(AssertionError):
            call()
