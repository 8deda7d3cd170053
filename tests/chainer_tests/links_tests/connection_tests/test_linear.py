import math

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import testing


@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@pytest.mark.parametrize('nobias', [True, False])
@pytest.mark.parametrize('lazy', [True, False])
def test_forward(dtype, nobias, lazy):
    with chainer.using_config('dtype', numpy.dtype(dtype)):
        link = L.Linear(None if lazy else 6, 2, nobias=nobias, initial_bias=0.5)
    x = numpy.random.uniform(-1, 1, (4, 3, 2)).astype(dtype)
    y = link(x)
    expected = x.reshape(4, 6).astype('d') @ link.W.array.astype('d').T + (0 if nobias else 0.5)
    assert y.dtype == dtype
    testing.assert_allclose(y.array, expected, atol=1e-2 if dtype == 'e' else 1e-5)
    assert (link.b is None) == nobias


def test_n_batch_axes():
    link = L.Linear(2)
    y = link(numpy.zeros((3, 4, 5, 6), 'f'), n_batch_axes=2)
    assert y.shape == (3, 4, 2)
    assert link.W.shape == (2, 30)


def test_single_size_and_specs():
    link = L.Linear(5)
    assert (link.in_size, link.out_size) == (None, 5)
    assert str(link) == 'Linear(in_size=None, out_size=5, nobias=False)'
    assert not link.W.is_initialized
    assert link.b.is_initialized


def test_default_initializers():
    numpy.random.seed(0)
    link = L.Linear(3, 2)
    numpy.random.seed(0)
    expected = numpy.random.normal(0, math.sqrt(1 / 3), (2, 3))
    testing.assert_allclose(link.W.array, expected, rtol=1e-6)
    testing.assert_allclose(link.b.array, 0)


def test_from_params():
    W, b = numpy.arange(6, dtype='f').reshape(2, 3), numpy.arange(2, dtype='f')
    link = L.Linear.from_params(chainer.Variable(W), b)
    testing.assert_allclose(link.W.array, W)
    testing.assert_allclose(link.b.array, b)
    assert (link.in_size, link.out_size) == (3, 2)
    assert L.Linear.from_params(W).b is None


def test_loads_into_lazy_link():
    source, target = L.Linear(3, 2), L.Linear(2)
    state = chainer.serializers.npz.serialize(source)
    chainer.serializers.NpzDeserializer(state).load(target)
    testing.assert_allclose(target.W.array, source.W.array)


def test_bad_input():
    with pytest.raises(chainer.utils.type_check.InvalidType):
        L.Linear(3, 2)(numpy.zeros((4, 5), 'f'))


def test_parameter_link():
    link = L.Parameter(numpy.arange(3, dtype='f'))
    y = link()
    assert type(y) is chainer.Variable and y.array is link.W.array
    link.cleargrads()
    F.sum(y * y).backward()
    testing.assert_allclose(link.W.grad, [0, 2, 4])
    assert dict(link.namedparams()) == {'/W': link.W}
    for array in None, 3, [1.0]:
        with pytest.raises(AttributeError, match='array'):
            L.Parameter(array)


def test_highway():
    link = L.Highway(3, init_bt=-1)
    x = numpy.random.uniform(-1, 1, (2, 3)).astype('f')
    gate = 1 / (1 + numpy.exp(-(x @ link.transform.W.array.T - 1)))
    plain = numpy.maximum(x @ link.plain.W.array.T, 0)
    testing.assert_allclose(link(x).array, gate * plain + (1 - gate) * x, atol=1e-5)
