import numpy
import pytest

import chainer.links as L
from chainer import testing

X = numpy.arange(-6, 6, dtype='f').reshape(2, 3, 2)


@pytest.mark.parametrize('shape', [(), (3,), (3, 2)])
def test_prelu(shape):
    link = L.PReLU(shape, 0.5)
    assert link.W.shape == shape
    testing.assert_allclose(link(X).array, numpy.where(X > 0, X, X / 2))


@pytest.mark.parametrize('shape', [(3,), (3, 2), None])
def test_swish(shape):
    link = L.Swish(shape, beta_init=2)
    y = link(X)
    assert link.beta.shape == (shape or (3, 2))
    testing.assert_allclose(y.array, X / (1 + numpy.exp(-2 * X)), atol=1e-5)


@pytest.mark.parametrize('kind', ['array', 'function'])
@pytest.mark.parametrize('in_size', [6, None])
def test_initial_values_of_maxout(in_size, kind):
    """They have an axis for the units of an output."""
    arrays = [
        numpy.arange(n, dtype='f').reshape(shape) for n, shape in [(48, (4, 2, 6)), (8, (4, 2))]
    ]
    if kind == 'function':

        def filled(array):
            def fill(target):
                assert target.shape == array.shape
                target[...] = array

            fill.dtype = array.dtype
            return fill

        link = L.Maxout(in_size, 4, 2, *[filled(array.astype('d')) for array in arrays])
    else:
        link = L.Maxout(in_size, 4, 2, *arrays)
    link(X.reshape(2, 6).astype('d' if kind == 'function' else 'f'))
    for param, array in zip([link.linear.W, link.linear.b], arrays):
        assert param.dtype == ('d' if kind == 'function' else 'f')
        numpy.testing.assert_array_equal(param.array.reshape(array.shape), array)


@pytest.mark.parametrize('shape', [(8, 6), (4, 2, 5), (2, 4, 6), (48,), (4, 2, 6, 1)])
def test_initial_values_of_maxout_that_do_not_fit(shape):
    with pytest.raises(ValueError, match=r'initialW must have the shape \(4, 2, 6\)'):
        L.Maxout(6, 4, 2, initialW=numpy.zeros(shape, 'f'))
    with pytest.raises(ValueError, match=r'initial_bias must have the shape \(4, 2\)'):
        L.Maxout(6, 4, 2, initial_bias=numpy.zeros(shape, 'f'))


@pytest.mark.parametrize('in_size', [6, None])
def test_maxout(in_size):
    rng = numpy.random.RandomState(0)
    W = rng.uniform(-1, 1, (4, 2, 6)).astype('f')
    b = rng.uniform(-1, 1, (4, 2)).astype('f')
    link = L.Maxout(6, 4, 2, W, b)
    x = X.reshape(2, 6)
    expected = (numpy.einsum('ni,opi->nop', x, W) + b).max(axis=2)
    testing.assert_allclose(link(x).array, expected, atol=1e-5)
    lazy = L.Maxout(in_size, 4, 2, initial_bias=None)
    assert lazy(x).shape == (2, 4)
    assert lazy.linear.b is None
