"""Activation functions."""

import numpy
import pytest
from helpers.functions import check_function, devices
from scipy import special

import chainer
import chainer.functions as F
from chainer.utils import type_check

# Away from kinks of the functions.
X = numpy.array([[-3.1, -1.2, -0.3, 0.4], [0.7, 1.9, 2.8, 6.5]]).reshape(2, 2, 2)
PROBABLE = numpy.log(numpy.array([[[1, 3], [2, 7]], [[5, 1], [4, 9]]], 'd'))
W = numpy.array([0.3, -0.6])


def _softmax(x, axis):
    return special.softmax(x, axis=axis)


def _elu(x, alpha=1.0):
    return numpy.where(x < 0, alpha * numpy.expm1(x), x)


def _silu(x):
    return x * special.expit(x)


ONE_INPUT = {
    'relu': (F.relu, lambda x: x.clip(0)),
    'clipped_relu': (lambda x: F.clipped_relu(x, 2.0), lambda x: x.clip(0, 2)),
    'relu6': (F.relu6, lambda x: x.clip(0, 6)),
    'crelu': (F.crelu, lambda x: numpy.concatenate((x.clip(0), (-x).clip(0)), 1)),
    'crelu last': (
        lambda x: F.crelu(x, -1),
        lambda x: numpy.concatenate((x.clip(0), (-x).clip(0)), -1),
    ),
    'elu': (F.elu, _elu),
    'elu alpha': (lambda x: F.elu(x, 0.4), lambda x: _elu(x, 0.4)),
    'selu': (F.selu, lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    'selu scale': (lambda x: F.selu(x, 0.4, 3), lambda x: 3 * _elu(x, 0.4)),
    'gelu': (F.gelu, lambda x: x * special.ndtr(x)),
    'gelu approximate': (
        lambda x: F.gelu(x, approximate=True),
        lambda x: x * special.expit(2 * numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)),
    ),
    'hard_sigmoid': (F.hard_sigmoid, lambda x: (x / 5 + 0.5).clip(0, 1)),
    'leaky_relu': (F.leaky_relu, lambda x: numpy.where(x < 0, x * 0.2, x)),
    'leaky_relu negative': (
        lambda x: F.leaky_relu(x, -0.5),
        lambda x: numpy.where(x < 0, x * -0.5, x),
    ),
    'leaky_relu zero': (lambda x: F.leaky_relu(x, 0), lambda x: x.clip(0)),
    'log_softmax': (F.log_softmax, lambda x: special.log_softmax(x, axis=1)),
    'log_softmax last': (lambda x: F.log_softmax(x, -1), lambda x: special.log_softmax(x, axis=-1)),
    'maxout': (lambda x: F.maxout(x, 2), lambda x: x.max(1, keepdims=True)),
    'maxout last': (lambda x: F.maxout(x, 2, -1), lambda x: x.max(2, keepdims=True)),
    'mish': (F.mish, lambda x: x * numpy.tanh(numpy.log1p(numpy.exp(x)))),
    'sigmoid': (F.sigmoid, special.expit),
    'silu': (F.silu, _silu),
    'softmax': (F.softmax, lambda x: _softmax(x, 1)),
    'softmax last': (lambda x: F.softmax(x, -1), lambda x: _softmax(x, 2)),
    'softplus': (F.softplus, lambda x: numpy.log1p(numpy.exp(x))),
    'softplus beta': (lambda x: F.softplus(x, 2), lambda x: numpy.log1p(numpy.exp(2 * x)) / 2),
    'tanh': (F.tanh, numpy.tanh),
}
WITH_AXIS = {'crelu', 'log_softmax', 'maxout', 'softmax'}


@pytest.mark.parametrize('name', ONE_INPUT)
def test_one_input(name):
    f, expected = ONE_INPUT[name]
    check_function(f, X, expected)


@pytest.mark.parametrize('name', ONE_INPUT)
def test_empty(name):
    x = chainer.Variable(numpy.zeros((0, 2, 2), 'f'))
    y = ONE_INPUT[name][0](x)
    assert y.dtype == 'f' and y.size == 0
    y.grad = y.array
    y.backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize('name', [n for n in ONE_INPUT if n.split()[0] not in WITH_AXIS])
def test_zero_dimensional(name):
    f, expected = ONE_INPUT[name]
    check_function(f, numpy.array(0.3), expected)


@pytest.mark.parametrize('name', [n for n in ONE_INPUT if not n.startswith('maxout')])
def test_refuses_ints(name):
    with pytest.raises(type_check.InvalidType):
        ONE_INPUT[name][0](X.astype(int))


@pytest.mark.parametrize('name', ONE_INPUT)
def test_large_inputs_do_not_overflow(name):
    f, expected = ONE_INPUT[name]
    x = chainer.Variable(numpy.array([[[-1e4, 1e4], [1e4, -1e4]]], 'f'))
    with numpy.errstate(all='raise', under='ignore'):
        y = f(x)
        assert numpy.isfinite(y.array).all()
        for double in (False, True):
            x.cleargrad()
            y.grad = numpy.ones_like(y.array)
            y.backward(enable_double_backprop=double)
            assert numpy.isfinite(x.grad).all()


# Second derivatives at zero, where branches of smooth functions meet.
@pytest.mark.parametrize(
    'f,expected',
    [(F.silu, 0.5), (F.gelu, 2 / numpy.sqrt(2 * numpy.pi)), (F.mish, 0.64), (F.softplus, 0.25)],
)
def test_second_derivative_at_zero(f, expected):
    x = chainer.Variable(numpy.zeros(1))
    (gx,) = chainer.grad([f(x)], [x], enable_double_backprop=True)
    (ggx,) = chainer.grad([gx], [x])
    numpy.testing.assert_allclose(ggx.array, expected, rtol=1e-10)


@pytest.mark.parametrize(
    'x_shape,w_shape', [((2, 2, 2), (2,)), ((2, 2, 2), (2, 2)), ((2, 2, 2), ()), ((8,), ())]
)
def test_prelu_and_swish(x_shape, w_shape):
    x = X.reshape(x_shape)
    w = numpy.array([0.3, -0.6, 0.8, 1.2])[: int(numpy.prod(w_shape))].reshape(w_shape)
    extended = (1, *w_shape, *(1,) * (x.ndim - 1 - w.ndim))
    check_function(F.prelu, (x, w), lambda x, w: numpy.where(x < 0, x * w.reshape(extended), x))
    check_function(F.swish, (x, w), lambda x, w: x * special.expit(w.reshape(extended) * x))


@pytest.mark.parametrize('f', [F.prelu, F.swish])
def test_prelu_and_swish_errors(f):
    for w in (numpy.zeros(3), numpy.zeros((2, 2, 2)), numpy.zeros(2, 'f')):
        with pytest.raises(type_check.InvalidType):
            f(X, w)


def test_rrelu():
    r = numpy.random.uniform(0.1, 0.3, X.shape)
    check_function(
        lambda x: F.rrelu(x, r=r.astype(x.dtype)), X, lambda x: numpy.where(x < 0, x * r, x)
    )
    with chainer.using_config('train', False):
        check_function(lambda x: F.rrelu(x, 0.2, 0.4), X, lambda x: numpy.where(x < 0, x * 0.3, x))
    x = numpy.full(100, -1, 'f')
    y, r = F.rrelu(x, 0.2, 0.4, return_r=True)
    assert (y.array == -r).all() and r.dtype == 'f'
    assert 0.2 <= r.min() < 0.25 and 0.35 < r.max() <= 0.4
    assert (F.rrelu(x, 0.2, 0.4, r=r).array == y.array).all()


@pytest.mark.parametrize(
    'f,error',
    [
        (lambda x: F.rrelu(x, -0.1, 0.2), ValueError),
        (lambda x: F.rrelu(x, 0.1, 1.0), ValueError),
        (lambda x: F.rrelu(x, 0.3, 0.2), ValueError),
        (lambda x: F.rrelu(x, r=x[:1]), type_check.InvalidType),
        (lambda x: F.rrelu(x, train=True), ValueError),
        (lambda x: F.rrelu(x, other=1), TypeError),
        (lambda x: F.clipped_relu(x, 20), TypeError),
        (lambda x: F.clipped_relu(x, -1.0), ValueError),
        (lambda x: F.crelu(x, 'a'), TypeError),
        (lambda x: F.crelu(x, 3), type_check.InvalidType),
        (lambda x: F.softmax(x, 3), type_check.InvalidType),
        (lambda x: F.softmax(x, -4), type_check.InvalidType),
        (lambda x: F.log_softmax(x, 3), type_check.InvalidType),
        (lambda x: F.maxout(x, 0), ValueError),
        (lambda x: F.maxout(x, 3), type_check.InvalidType),
    ],
)
def test_errors(f, error):
    with pytest.raises(error):
        f(X)


@pytest.mark.parametrize(
    'f, expected',
    [
        (F.relu, [0, 0, 1, 1]),
        (F.clipped_relu, [0, 0, 1, 0]),
        (F.leaky_relu, [0.2, 1, 1, 1]),
        (F.hard_sigmoid, [0, 0.2, 0, 0]),
        (lambda x: F.elu(x, 3), [3 * numpy.exp(-2.5), 3, 1, 1]),
    ],
)
@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('setting', ['never', 'always'])
def test_gradient_at_kinks(device, f, expected, setting):
    device = chainer.get_device(device)
    x = chainer.Variable(device.send(numpy.array([-2.5, 0, 2.5, 20], 'f')))
    with chainer.using_config('use_native_kernels', setting):
        (gx,) = chainer.grad([f(x)], [x])
    gx.to_cpu()
    numpy.testing.assert_allclose(gx.array, numpy.array(expected, 'f'), 1e-6)


def test_private_log_softmax():
    from chainer.functions.activation import log_softmax

    y = log_softmax._log_softmax(PROBABLE[:, 0])
    numpy.testing.assert_allclose(numpy.exp(y), [[0.25, 0.75], [5 / 6, 1 / 6]])
    z = log_softmax.logsumexp(PROBABLE[:, 0], 1)
    numpy.testing.assert_allclose(numpy.exp(z), [[4], [6]])
