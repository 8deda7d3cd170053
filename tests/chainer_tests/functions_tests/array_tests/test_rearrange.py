"""Functions that move, repeat or pad elements."""

import numpy
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
from chainer.utils import type_check


def _array(*shape):
    return numpy.asarray(numpy.arange(1, 1 + numpy.prod(shape, dtype=int)).reshape(shape) / 8)


X = _array(2, 3, 4)
SQUARE = _array(3, 3)


def _depth2space(x, r):
    n, c, h, w = x.shape
    y = numpy.empty((n, c // r**2, h * r, w * r), x.dtype)
    for i in range(r):
        for j in range(r):
            start = (i * r + j) * (c // r**2)
            y[:, :, i::r, j::r] = x[:, start : start + c // r**2]
    return y


def _patches(x, kh, kw, sy, sx, ph, pw, dy=1, dx=1):
    x = numpy.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    windows = numpy.lib.stride_tricks.sliding_window_view(
        x, ((kh - 1) * dy + 1, (kw - 1) * dx + 1), (2, 3)
    )[:, :, ::sy, ::sx, ::dy, ::dx]
    n, c, h, w = windows.shape[:4]
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, c * kh * kw, h, w)


ONE_INPUT = {
    'flatten': (F.flatten, numpy.ravel, X),
    'flip': (lambda x: F.flip(x, 1), lambda x: x[:, ::-1], X),
    'flip last': (lambda x: F.flip(x, -1), lambda x: x[..., ::-1], X),
    'fliplr': (F.fliplr, numpy.fliplr, X),
    'flipud': (F.flipud, numpy.flipud, X),
    'moveaxis': (lambda x: F.moveaxis(x, 0, -1), lambda x: numpy.moveaxis(x, 0, -1), X),
    'moveaxis two': (
        lambda x: F.moveaxis(x, (0, 1), (-1, 0)),
        lambda x: numpy.moveaxis(x, (0, 1), (-1, 0)),
        X,
    ),
    'tile': (lambda x: F.tile(x, (2, 1, 3)), lambda x: numpy.tile(x, (2, 1, 3)), X),
    'tile int': (lambda x: F.tile(x, 2), lambda x: numpy.tile(x, 2), X),
    'tile more axes': (
        lambda x: F.tile(x, (2, 1, 3)),
        lambda x: numpy.tile(x, (2, 1, 3)),
        _array(2),
    ),
    'tile none': (lambda x: F.tile(x, (0, 2)), lambda x: numpy.tile(x, (0, 2)), SQUARE),
    'tile 0-d': (lambda x: F.tile(x, 3), lambda x: numpy.tile(x, 3), _array()),
    'repeat': (lambda x: F.repeat(x, 2, 1), lambda x: numpy.repeat(x, 2, 1), X),
    'repeat flat': (lambda x: F.repeat(x, 2), lambda x: numpy.repeat(x, 2), X),
    'repeat each': (
        lambda x: F.repeat(x, (1, 0, 3), -2),
        lambda x: numpy.repeat(x, (1, 0, 3), 1),
        X,
    ),
    'repeat True': (lambda x: F.repeat(x, True, 0), lambda x: x, X),
    'repeat booleans': (
        lambda x: F.repeat(x, (True, numpy.False_, 2), 1),
        lambda x: numpy.repeat(x, (1, 0, 2), 1),
        X,
    ),
    'repeat tuple of one': (lambda x: F.repeat(x, (3,), 0), lambda x: numpy.repeat(x, 3, 0), X),
    'permutate': (
        lambda x: F.permutate(x, numpy.array([2, 0, 1]), 1),
        lambda x: x[:, [2, 0, 1]],
        X,
    ),
    'permutate inverse': (
        lambda x: F.permutate(x, numpy.array([2, 0, 1], 'i'), -2, inv=True),
        lambda x: x[:, [1, 2, 0]],
        X,
    ),
    'permutate variable': (
        lambda x: F.permutate(x, chainer.Variable(numpy.array([1, 0]))),
        lambda x: x[[1, 0]],
        X,
    ),
    'separate': (F.separate, lambda x: tuple(x), X),
    'separate axis': (lambda x: F.separate(x, -1), lambda x: tuple(numpy.moveaxis(x, 2, 0)), X),
    'separate vector': (F.separate, lambda x: tuple(x), _array(2)),
    'diagonal': (F.diagonal, numpy.diagonal, SQUARE),
    'diagonal above': (lambda x: F.diagonal(x, 1, 1, 2), lambda x: x.diagonal(1, 1, 2), X),
    'diagonal below': (lambda x: F.diagonal(x, -1, -1, 0), lambda x: x.diagonal(-1, 2, 0), X),
    'diagonal outside': (lambda x: F.diagonal(x, 4), lambda x: x.diagonal(4), SQUARE),
    'depth2space': (
        lambda x: F.depth2space(x, 2),
        lambda x: _depth2space(x, 2),
        _array(2, 8, 1, 2),
    ),
    'space2depth': (
        lambda x: F.space2depth(_depth2space_of(x), 2),
        lambda x: x,
        _array(2, 8, 1, 2),
    ),
    'im2col': (
        lambda x: F.im2col(x, 2),
        lambda x: _patches(x, 2, 2, 1, 1, 0, 0),
        _array(2, 2, 3, 4),
    ),
    'im2col all': (
        lambda x: F.im2col(x, (2, 3), (2, 1), (1, 2), dilate=(1, 2)),
        lambda x: _patches(x, 2, 3, 2, 1, 1, 2, 1, 2),
        _array(1, 2, 4, 3),
    ),
    'pad': (
        lambda x: F.pad(x, ((1, 0), (0, 0), (2, 1)), 'constant'),
        lambda x: numpy.pad(x, ((1, 0), (0, 0), (2, 1))),
        X,
    ),
    'pad int': (
        lambda x: F.pad(x, 1, 'constant', constant_values=3),
        lambda x: numpy.pad(x, 1, constant_values=3),
        X,
    ),
    'pad pair': (lambda x: F.pad(x, (0, 2), 'constant'), lambda x: numpy.pad(x, (0, 2)), X),
    **{
        f'pad {mode}': (
            lambda x, mode=mode: F.pad(x, ((1, 1), (0, 2)), mode),
            lambda x, mode=mode: numpy.pad(x, ((1, 1), (0, 2)), mode),
            SQUARE,
        )
        for mode in ('edge', 'reflect', 'symmetric', 'wrap')
    },
    'as_strided': (
        lambda x: F.as_strided(x + 0, (3, 2), (2, 1), 1),
        lambda x: x.ravel()[[[1, 2], [3, 4], [5, 6]]],
        SQUARE,
    ),
    'as_strided overlap': (
        lambda x: F.as_strided(x + 0, (2, 2, 3), (0, 1, 3)),
        lambda x: x.ravel()[[[[0, 3, 6], [1, 4, 7]]] * 2],
        SQUARE,
    ),
    'as_strided of view': (
        lambda x: F.as_strided((x + 0).T[1:], (2, 2), (1, -1)),
        lambda x: x.ravel()[[[1, 0], [2, 1]]],
        SQUARE,
    ),
    'as_strided 0-d': (lambda x: F.as_strided(x + 0, (), (), 3), lambda x: x[1, 0], SQUARE),
}


def _depth2space_of(x):
    return F.depth2space(x, 2)


@pytest.mark.parametrize('name', ONE_INPUT)
def test_one_input(name):
    f, expected, x = ONE_INPUT[name]
    # Memory that a view does not show gets no gradient: the numerical derivative would.
    check_function(
        f, x, expected, grad=name != 'as_strided of view', on_chainerx=name != 'as_strided of view'
    )


def test_as_strided_gradient_of_view():
    base = numpy.arange(9.0).reshape(3, 3)
    x = chainer.Variable(base[1:, ::2])
    y = F.as_strided(x, (2, 2), (1, 1))
    assert y.array.tolist() == [[3, 4], [4, 5]]
    assert F.as_strided(x, (1,), (1,), 0).array.tolist() == [0]
    y.grad = numpy.array([[1.0, 2], [3, 4]])
    y.backward()
    assert x.grad.tolist() == [[1, 4], [0, 0]]
    y = F.as_strided(numpy.broadcast_to(numpy.ones(1), (2,)), (3,), (0,))
    assert y.array.tolist() == [1, 1, 1]


def test_tensor_geometry():
    from chainer.functions.array.as_strided import TensorGeometry

    geometry = TensorGeometry(numpy.zeros((3, 4), 'f')[1:, ::2])
    assert (
        geometry.shape,
        geometry.strides,
        geometry.storage_offset,
        geometry.itemsize,
        geometry.ndim,
    ) == ((2, 2), (4, 2), 4, 4, 2)


SEVERAL_INPUTS = {
    **{
        f'{f} {ndim}': (
            lambda *xs, f=f: getattr(F, f)(xs),
            lambda *xs, f=f: getattr(numpy, f)(xs),
            xs,
        )
        for f in ('hstack', 'vstack', 'dstack')
        for ndim, xs in enumerate(
            [(_array(), _array()), (_array(3), _array(3)), (SQUARE, SQUARE), (X, X, X)]
        )
    },
    'hstack differing': (lambda *xs: F.hstack(xs), lambda *xs: numpy.hstack(xs), (X, X[:, :1])),
    'hstack vectors': (
        lambda *xs: F.hstack(xs),
        lambda *xs: numpy.hstack(xs),
        (_array(2), _array(3)),
    ),
    'vstack differing': (lambda *xs: F.vstack(xs), lambda *xs: numpy.vstack(xs), (X, X[:1])),
    'hstack one': (lambda x: F.hstack([x]), lambda x: x, (X,)),
    'vstack one': (lambda x: F.vstack([x]), lambda x: x[None], (X[0, 0],)),
    'dstack one': (lambda x: F.dstack([x]), lambda x: x[..., None], (X[0],)),
    'dstack differing': (lambda *xs: F.dstack(xs), lambda *xs: numpy.dstack(xs), (X, X[..., :1])),
    'pad_sequence': (
        lambda *xs: F.pad_sequence(xs),
        lambda x, y, z: numpy.stack(
            [x, numpy.concatenate([y, numpy.zeros((2, 2))]), numpy.zeros((3, 2))]
        ),
        (_array(3, 2), _array(1, 2), _array(0, 2)),
    ),
    'pad_sequence length': (
        lambda *xs: F.pad_sequence(xs, length=4, padding=-1),
        lambda x, y: numpy.stack([numpy.append(x, -1), numpy.append(y, [-1, -1])]),
        (_array(3), _array(2)),
    ),
    'transpose_sequence': (
        lambda *xs: F.transpose_sequence(xs),
        lambda x, y, z: (numpy.stack([x[0], y[0]]), numpy.stack([x[1], y[1]]), x[2:]),
        (_array(3, 2), _array(2, 2), _array(0, 2)),
    ),
}


@pytest.mark.parametrize('name', SEVERAL_INPUTS)
def test_several_inputs(name):
    f, expected, xs = SEVERAL_INPUTS[name]
    check_function(f, xs, expected)


IMAGES = _array(1, 4, 3, 4)
ERRORS = [
    (lambda: F.flip(X, 3), type_check.InvalidType),
    (lambda: F.flip(X, -4), type_check.InvalidType),
    (lambda: F.flip(_array(), 0), type_check.InvalidType),
    (lambda: F.flip(X, 'a'), TypeError),
    (lambda: F.fliplr(X[0, 0]), type_check.InvalidType),
    (lambda: F.flipud(_array()), type_check.InvalidType),
    (lambda: F.moveaxis(X, 3, 0), type_check.InvalidType),
    (lambda: F.moveaxis(X, 0, -4), type_check.InvalidType),
    (lambda: F.moveaxis(X, (0, 1), 0), ValueError),
    (lambda: F.moveaxis(X, (0, 0), (1, 2)), ValueError),
    (lambda: F.moveaxis(X, (0, 1), (1, 1)), ValueError),
    (lambda: F.moveaxis(X, 'a', 0), TypeError),
    (lambda: F.moveaxis(X, 0, (1.0,)), TypeError),
    (lambda: F.tile(X, -1), ValueError),
    (lambda: F.tile(X, 1.5), TypeError),
    (lambda: F.tile(X, (1, 'a')), TypeError),
    (lambda: F.repeat(X, -1), ValueError),
    (lambda: F.repeat(X, 1.5), TypeError),
    (lambda: F.repeat(X, 1, 'a'), TypeError),
    (lambda: F.repeat(X, 1, True), TypeError),
    (lambda: F.repeat(X, 1, 3), type_check.InvalidType),
    (lambda: F.repeat(X, (1, 2), 1), type_check.InvalidType),
    (lambda: F.repeat(X, (1, 2)), type_check.InvalidType),
    (lambda: F.permutate(X, numpy.array([0, 1]), 1), type_check.InvalidType),
    (lambda: F.permutate(X, numpy.array([0, 1]), 3), type_check.InvalidType),
    (lambda: F.permutate(X, numpy.array([0.0, 1.0])), ValueError),
    (lambda: F.permutate(X, numpy.array([[0, 1]])), ValueError),
    (lambda: F.separate(X, 3), type_check.InvalidType),
    (lambda: F.separate(_array()), type_check.InvalidType),
    (lambda: F.diagonal(X, 0, 3), type_check.InvalidType),
    (lambda: F.diagonal(X, 0, 0, -4), type_check.InvalidType),
    (lambda: F.diagonal(X, 0, 1, 1), ValueError),
    (lambda: F.depth2space(IMAGES, 3), type_check.InvalidType),
    (lambda: F.depth2space(X, 2), type_check.InvalidType),
    (lambda: F.depth2space(IMAGES.astype(int), 2), type_check.InvalidType),
    (lambda: F.space2depth(IMAGES, 2), type_check.InvalidType),
    (lambda: F.space2depth(X, 2), type_check.InvalidType),
    (lambda: F.im2col(X, 2), type_check.InvalidType),
    (lambda: F.pad(X.astype(int), 1, 'constant'), type_check.InvalidType),
    (lambda: F.pad(X, 1, 'unknown'), ValueError),
    (lambda: F.as_strided(X, (2, 2), (1,)), ValueError),
    (lambda: F.as_strided(X, (25,), (1,)), ValueError),
    (lambda: F.as_strided(X, (2,), (-1,)), ValueError),
    (lambda: F.hstack([]), type_check.InvalidType),
    (lambda: F.hstack([X, X[:1]]), type_check.InvalidType),
    (lambda: F.hstack([X, X[0]]), type_check.InvalidType),
    (lambda: F.vstack([X, X[:, :1]]), type_check.InvalidType),
    (lambda: F.vstack([X[0, 0], X[0, 0, :1]]), type_check.InvalidType),
    (lambda: F.vstack([X, X.astype('f')]), type_check.InvalidType),
    (lambda: F.dstack([X, X[:, :1]]), type_check.InvalidType),
    (lambda: F.dstack([SQUARE, SQUARE[:1]]), type_check.InvalidType),
    (lambda: F.pad_sequence([]), type_check.InvalidType),
    (lambda: F.pad_sequence([X, X[:, :1]]), type_check.InvalidType),
    (lambda: F.pad_sequence([X, X.astype('f')]), type_check.InvalidType),
    (lambda: F.pad_sequence([X], length=1), type_check.InvalidType),
    (lambda: F.pad_sequence([_array()]), type_check.InvalidType),
    (lambda: F.transpose_sequence([X[:1], X]), type_check.InvalidType),
    (lambda: F.transpose_sequence([X, X[:, :1]]), type_check.InvalidType),
]


@pytest.mark.parametrize('i', range(len(ERRORS)))
def test_errors(i):
    f, error = ERRORS[i]
    with pytest.raises(error):
        f()


def test_permutate_checks_indices_in_debug_mode():
    with chainer.using_config('debug', True):
        for indices in ([0, 2], [-1, 0], [1, 1]):
            with pytest.raises(ValueError):
                F.permutate(X, numpy.array(indices))


def test_pad_without_gradient():
    x = chainer.Variable(SQUARE)
    y = F.sum(F.pad(x, 1, 'maximum'))
    with pytest.raises(NotImplementedError):
        y.backward()


def test_transpose_sequence_of_nothing():
    assert F.transpose_sequence([]) == ()


@pytest.mark.parametrize('f', [F.separate, lambda x: F.transpose_sequence([x, x[:2]])])
@pytest.mark.parametrize('double', [False, True])
def test_unused_outputs(f, double):
    x = chainer.Variable(SQUARE)
    y = F.sum(f(x)[2])
    del f
    y.backward(enable_double_backprop=double)
    assert x.grad.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
