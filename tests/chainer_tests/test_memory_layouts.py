import numpy
import pytest

import chainer
from chainer import memory_layouts as m
from chainer._core.devices import layouts

PAIRS = [(m.CUDNN_CHANNEL_LAST_X, None), (m.CUDNN_CHANNEL_LAST_W, m.CUDNN_CHANNEL_FIRST_W)]


@pytest.mark.parametrize('last, first', PAIRS)
@pytest.mark.parametrize(
    'shape, raw', [((2, 3, 4, 5), (2, 4, 5, 3)), ((2, 3), (2, 3)), ((2, 3, 4), (2, 4, 3))]
)
def test_transpose(last, first, shape, raw):
    x = numpy.random.rand(*shape)
    y = layouts.transpose_array(x, first, last)
    assert y.shape == raw == layouts.transpose_shape(shape, first, last)
    assert y.flags.c_contiguous
    numpy.testing.assert_array_equal(layouts.transpose_array(y, last, first), x)
    assert layouts.transpose_array(x, first, first) is x


def test_as_layout():
    x = chainer.Variable(numpy.random.rand(2, 3, 4, 5))
    y = x.as_layout(m.CUDNN_CHANNEL_LAST_X)
    assert y.layout == m.CUDNN_CHANNEL_LAST_X
    assert y.shape == m.get_semantic_shape(y) == (2, 3, 4, 5)
    assert y.raw_array.shape == m.get_raw_shape(y) == (2, 4, 5, 3)
    z = y.as_layout(None)
    assert z.layout is None
    numpy.testing.assert_array_equal(z.array, x.array)
    z.grad = numpy.random.rand(2, 3, 4, 5)
    z.backward(retain_grad=True)
    numpy.testing.assert_array_equal(x.grad, z.grad)


def test_shapes_of_arrays():
    x = numpy.zeros((2, 4, 5, 3))
    assert m.get_raw_shape(x) == m.get_semantic_shape(x) == (2, 4, 5, 3)
    assert m.get_semantic_shape(x, assumed_layout=m.CUDNN_CHANNEL_LAST_X) == (2, 3, 4, 5)
    variable = chainer.Variable(x)
    assert m.get_semantic_shape(variable, assumed_layout=None) == (2, 4, 5, 3)


def test_bad():
    with pytest.raises(ValueError, match='Unknown memory layout'):
        m.AsLayout('unknown')
    with pytest.raises(ValueError, match='no channel axis'):
        layouts.transpose_array(numpy.zeros(3), None, m.CUDNN_CHANNEL_LAST_X)
    with pytest.raises(ValueError, match='layout of the variable'):
        m.get_semantic_shape(
            chainer.Variable(numpy.zeros((2, 3))), assumed_layout=m.CUDNN_CHANNEL_LAST_X
        )
