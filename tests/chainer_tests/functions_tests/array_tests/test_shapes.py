"""Functions that only rearrange, join or split elements."""

import numpy
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
from chainer.utils import type_check


def _array(*shape):
    return numpy.asarray(numpy.arange(1, 1 + numpy.prod(shape, dtype=int)).reshape(shape) / 8)


X = _array(2, 3, 4)

ONE_INPUT = {
    'reshape': (lambda x: F.reshape(x, (4, 6)), lambda x: x.reshape(4, 6), X),
    'reshape unknown': (lambda x: F.reshape(x, (3, -1)), lambda x: x.reshape(3, -1), X),
    'reshape same': (lambda x: F.reshape(x, (2, 3, 4)), lambda x: x, X),
    'reshape list': (lambda x: F.reshape(x, [24]), lambda x: x.ravel(), X),
    'reshape 0-d': (lambda x: F.reshape(x, ()), lambda x: x.reshape(()), _array(1)),
    'reshape empty': (lambda x: F.reshape(x, (3, 0)), lambda x: x.reshape(3, 0), _array(0, 2)),
    'transpose': (F.transpose, lambda x: x.T, X),
    'transpose axes': (lambda x: F.transpose(x, (1, -1, 0)), lambda x: x.transpose(1, 2, 0), X),
    'swapaxes': (lambda x: F.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, 2), X),
    'broadcast_to': (
        lambda x: F.broadcast_to(x, (2, 2, 3, 4)),
        lambda x: numpy.broadcast_to(x, (2, 2, 3, 4)),
        _array(2, 1, 4),
    ),
    'broadcast_to 0-d': (
        lambda x: F.broadcast_to(x, (2, 3)),
        lambda x: numpy.broadcast_to(x, (2, 3)),
        _array(),
    ),
    'expand_dims': (lambda x: F.expand_dims(x, 1), lambda x: x[:, None], X),
    'expand_dims last': (lambda x: F.expand_dims(x, -1), lambda x: x[..., None], X),
    'squeeze': (F.squeeze, lambda x: x.squeeze(), _array(1, 3, 1)),
    'squeeze axis': (lambda x: F.squeeze(x, -1), lambda x: x.squeeze(2), _array(1, 3, 1)),
    'squeeze axes': (lambda x: F.squeeze(x, (0, 2)), lambda x: x.squeeze(), _array(1, 3, 1)),
    'split sections': (lambda x: F.split_axis(x, 2, 2), lambda x: numpy.split(x, 2, 2), X),
    'split indices': (
        lambda x: F.split_axis(x, [1, 3], -1),
        lambda x: numpy.split(x, [1, 3], 2),
        X,
    ),
    'split array': (
        lambda x: F.split_axis(x, numpy.array([0, 2]), 1),
        lambda x: numpy.split(x, [0, 2], 1),
        X,
    ),
    'split one': (lambda x: F.split_axis(x, 1, 0, force_tuple=False), lambda x: x, X),
    **{
        f'rollaxis {axis} {start}': (
            lambda x, axis=axis, start=start: F.rollaxis(x, axis, start),
            lambda x, axis=axis, start=start: numpy.rollaxis(x, axis, start),
            X,
        )
        for axis, start in [(0, 0), (2, 0), (0, 3), (1, -1), (-3, 2), (-1, -3)]
    },
}


@pytest.mark.parametrize('name', ONE_INPUT)
def test_one_input(name):
    f, expected, x = ONE_INPUT[name]
    check_function(f, x, expected)


SEVERAL_INPUTS = {
    'concat': (
        lambda *xs: F.concat(xs),
        lambda *xs: numpy.concatenate(xs, 1),
        (_array(2, 1), _array(2, 3), _array(2, 0)),
    ),
    'concat last': (lambda *xs: F.concat(xs, -1), lambda *xs: numpy.concatenate(xs, -1), (X, X)),
    'concat one': (lambda x: F.concat([x], 0), lambda x: x, (X,)),
    'stack': (lambda *xs: F.stack(xs), lambda *xs: numpy.stack(xs), (X, X + 1)),
    'stack one': (lambda x: F.stack([x]), lambda x: x[None], (X,)),
    'stack one last': (lambda x: F.stack([x], -1), lambda x: x[..., None], (X,)),
    'stack one 0-d': (lambda x: F.stack([x]), lambda x: x[None], (_array(),)),
    'stack last': (lambda *xs: F.stack(xs, -1), lambda *xs: numpy.stack(xs, -1), (X, X + 1)),
    'stack 0-d': (lambda *xs: F.stack(xs), lambda *xs: numpy.stack(xs), (_array(), _array())),
    'broadcast': (F.broadcast, numpy.broadcast_arrays, (_array(3, 1), _array(4), _array(2, 1, 1))),
    'broadcast same': (F.broadcast, lambda *xs: xs, (X, X)),
}


@pytest.mark.parametrize('name', SEVERAL_INPUTS)
def test_several_inputs(name):
    f, expected, xs = SEVERAL_INPUTS[name]
    check_function(f, xs, expected)


ERRORS = [
    (lambda x: F.reshape(x, (5, 5)), type_check.InvalidType),
    (lambda x: F.reshape(x, (5, -1)), type_check.InvalidType),
    (lambda x: F.reshape(x[:0], (0, -1)), type_check.InvalidType),
    (lambda x: F.reshape(x, (-1, -1)), AssertionError),
    (lambda x: F.transpose(x, (0, 1)), ValueError),
    (lambda x: F.swapaxes(x, 0, 3), ValueError),
    (lambda x: F.broadcast_to(x, (2, 3, 5)), type_check.InvalidType),
    (lambda x: F.broadcast_to(x, (3, 4)), type_check.InvalidType),
    (lambda x: F.broadcast(x, x[:, :2]), type_check.InvalidType),
    (lambda x: F.expand_dims(x, 4), type_check.InvalidType),
    (lambda x: F.expand_dims(x, -5), type_check.InvalidType),
    (lambda x: F.squeeze(x, 0), ValueError),
    (lambda x: F.squeeze(x, 3), type_check.InvalidType),
    (lambda x: F.squeeze(x, -4), type_check.InvalidType),
    (lambda x: F.squeeze(x, 'a'), TypeError),
    (lambda x: F.squeeze(x, (0, 'a')), TypeError),
    (lambda x: F.split_axis(x, 3, 2), type_check.InvalidType),
    (lambda x: F.split_axis(x, [1, 5], 2), type_check.InvalidType),
    (lambda x: F.split_axis(x, 0, 2), ZeroDivisionError),
    (lambda x: F.split_axis(x, 2, 3), type_check.InvalidType),
    (lambda x: F.split_axis(x, 1.5, 2), TypeError),
    (lambda x: F.split_axis(x, numpy.zeros((1, 1), int), 2), TypeError),
    (lambda x: F.rollaxis(x, 3), type_check.InvalidType),
    (lambda x: F.rollaxis(x, -4), type_check.InvalidType),
    (lambda x: F.rollaxis(x, 0, 4), type_check.InvalidType),
    (lambda x: F.rollaxis(x, 0, -4), type_check.InvalidType),
    (lambda x: F.rollaxis(x, 'a'), TypeError),
    (lambda x: F.rollaxis(x, 0, 'a'), TypeError),
    (lambda x: F.concat((x, x), 3), type_check.InvalidType),
    (lambda x: F.concat((x, x), -4), type_check.InvalidType),
    (lambda x: F.concat((x, x[:, :, :2])), type_check.InvalidType),
    (lambda x: F.concat((x, x.astype('f'))), type_check.InvalidType),
    (lambda x: F.concat((x, x), 'a'), TypeError),
    (lambda x: F.concat([]), type_check.InvalidType),
    (lambda x: F.stack((x, x[:1])), type_check.InvalidType),
    (lambda x: F.stack((x, x), 4), type_check.InvalidType),
    (lambda x: F.stack((x, x), -5), type_check.InvalidType),
    (lambda x: F.stack([]), type_check.InvalidType),
]


@pytest.mark.parametrize('i', range(len(ERRORS)))
def test_errors(i):
    f, error = ERRORS[i]
    with pytest.raises(error):
        f(X)


def test_no_graph_where_nothing_changes():
    x = chainer.Variable(X)
    assert F.reshape(x, X.shape) is x
    assert F.broadcast_to(x, X.shape) is x
    assert F.broadcast(x, x)[0] is x
    assert F.broadcast(x) is x


def test_split_axis_unused_output():
    x = chainer.Variable(X)
    for double in (False, True):
        x.cleargrad()
        y = F.split_axis(x, [1, 2], 2)[1]
        F.sum(y).backward(enable_double_backprop=double)
        assert x.grad.tolist() == numpy.broadcast_to([0, 1, 0, 0], X.shape).tolist()


def test_stack_and_concat_of_some_gradients():
    x = chainer.Variable(X)
    for f in (F.stack, F.concat):
        for double in (False, True):
            x.cleargrad()
            F.sum(f([X, x, X])).backward(enable_double_backprop=double)
            assert (x.grad == 1).all()


def test_squeeze_argone():
    from chainer.functions.array.squeeze import argone

    assert argone((1, 2, 1)) == [0, 2]
    with pytest.raises(ValueError):
        argone((1, 'a'))


@pytest.mark.parametrize('setting', ['always', 'never'])
@pytest.mark.parametrize(
    'function',
    [
        lambda x: F.as_strided(x, (2, 2), (1, 3)),
        lambda x: F.broadcast_to(x, (2, 2, 3, 4)),
        lambda x: F.broadcast(x, numpy.zeros((2, 1, 1, 1)))[0],
        lambda x: F.cast(x, x.dtype),
        F.diagonal,
        lambda x: F.expand_dims(x, 0),
        lambda x: F.flip(x, 1),
        F.fliplr,
        F.flipud,
        lambda x: F.get_item(x, (0, slice(1, None))),
        lambda x: F.moveaxis(x, 0, 2),
        lambda x: F.reshape(x, (4, 6)),
        lambda x: F.rollaxis(x, 2),
        lambda x: F.separate(x, 1)[1],
        lambda x: F.split_axis(x, 2, 2)[1],
        lambda x: F.squeeze(x[:1]),
        lambda x: F.swapaxes(x, 0, 1),
        F.transpose,
    ],
)
def test_outputs_are_views_of_numpy_arrays(function, setting):
    x = X.copy()
    with chainer.using_config('use_native_kernels', setting):
        y = function(chainer.Variable(x))
    assert numpy.shares_memory(x, y.array)
