"""Convolution and deconvolution, in two and in other numbers of dimensions."""

import itertools

import numpy as np
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.functions.connection import _convolution_plan
from chainer.functions.connection.convolution_2d import Convolution2DFunction
from chainer.functions.connection.convolution_nd import ConvolutionND
from chainer.functions.connection.deconvolution_2d import Deconvolution2DFunction
from chainer.functions.connection.deconvolution_nd import DeconvolutionND
from chainer.utils import type_check

TOLERANCES = {np.float16: 3e-2, np.float32: 1e-4}


def as_tuple(value, n):
    return value if isinstance(value, tuple) else (value,) * n


def places(w_shape, outs, dims, stride, pad, dilate, groups):
    """Indexes (o, c in group, c, kernel, out, in) of all products of a convolution."""
    o, c_per_group, *ksize = w_shape
    for i, j in itertools.product(range(o), range(c_per_group)):
        c = i // (o // groups) * c_per_group + j
        for k, out in itertools.product(np.ndindex(*ksize), np.ndindex(*outs)):
            at = tuple(a * s - p + b * d for a, s, p, b, d in zip(out, stride, pad, k, dilate))
            if all(0 <= a < dim for a, dim in zip(at, dims)):
                yield i, j, c, k, out, at


def convolution(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    ndim = x.ndim - 2
    stride, pad, dilate = (as_tuple(v, ndim) for v in (stride, pad, dilate))
    outs = tuple(
        (dim + 2 * p - (k - 1) * d - 1 + (s - 1 if cover_all else 0)) // s + 1
        for dim, k, s, p, d in zip(x.shape[2:], W.shape[2:], stride, pad, dilate)
    )
    y = np.zeros((len(x), len(W), *outs))
    for i, j, c, k, out, at in places(W.shape, outs, x.shape[2:], stride, pad, dilate, groups):
        y[(slice(None), i, *out)] += x[(slice(None), c, *at)] * W[(i, j, *k)]
    return y if b is None else y + b.reshape(-1, *[1] * ndim)


def deconvolution(x, W, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1):
    ndim = x.ndim - 2
    stride, pad, dilate = (as_tuple(v, ndim) for v in (stride, pad, dilate))
    dims = outsize or tuple(
        s * (out - 1) + (k - 1) * d + 1 - 2 * p
        for out, k, s, p, d in zip(x.shape[2:], W.shape[2:], stride, pad, dilate)
    )
    y = np.zeros((len(x), W.shape[1] * groups, *dims))
    for i, j, c, k, out, at in places(W.shape, x.shape[2:], dims, stride, pad, dilate, groups):
        y[(slice(None), c, *at)] += x[(slice(None), i, *out)] * W[(i, j, *k)]
    return y if b is None else y + b.reshape(-1, *[1] * ndim)


def sample(*shapes):
    rng = np.random.RandomState(0)
    return [rng.uniform(-1, 1, shape) for shape in shapes]


@pytest.fixture(params=['usual', 'chunks', 'merged chunks'])
def chunks(request, monkeypatch):
    """Makes small arrays take the paths of large ones."""
    if request.param != 'usual':
        monkeypatch.setattr(_convolution_plan, '_HOST_CHUNK', 100)
        monkeypatch.setattr(_convolution_plan, '_WIDE', 1 if request.param == 'chunks' else 13)
    _convolution_plan.get_plan.cache_clear()
    yield
    _convolution_plan.get_plan.cache_clear()


CONVOLUTIONS = [
    # x, W, arguments
    ((2, 3, 4, 5), (2, 3, 3, 2), {}),
    ((3, 1, 4, 3), (1, 1, 2, 2), {'stride': 2, 'pad': 1, 'cover_all': True}),
    ((2, 2, 5, 4), (2, 2, 2, 3), {'stride': (1, 2), 'pad': (0, 1), 'dilate': (2, 1)}),
    ((2, 4, 3, 3), (4, 2, 3, 3), {'pad': 1, 'groups': 2}),
    ((1, 4, 3, 3), (2, 2, 1, 1), {'groups': 2}),
    ((2, 3, 3, 4), (2, 3, 1, 1), {'stride': 2}),
    ((2, 2, 2, 2), (3, 2, 2, 2), {}),
    ((2, 2, 3, 3), (2, 2, 2, 2), {'pad': 2}),
]


@pytest.mark.parametrize('x, W, arguments', CONVOLUTIONS)
@pytest.mark.parametrize('bias', [True, False])
def test_convolution_2d(x, W, arguments, bias):
    check_function(
        lambda *xs: F.convolution_2d(*xs, **arguments),
        sample(x, W, *[W[:1]] * bias),
        lambda *xs: convolution(*xs, **arguments),
        tolerances=TOLERANCES,
    )


@pytest.mark.parametrize('x, W, arguments', CONVOLUTIONS)
def test_chunks_of_convolution(x, W, arguments, chunks):
    check_function(
        lambda *xs: F.convolution_2d(*xs, **arguments),
        sample((5, *x[1:]), W, W[:1]),
        lambda *xs: convolution(*xs, **arguments),
        dtypes=[np.float32],
        double=False,
        tolerances=TOLERANCES,
        on_chainerx=False,
    )


@pytest.mark.parametrize(
    'x, W, arguments',
    [
        ((2, 3, 5), (2, 3, 2), {'stride': 2, 'pad': 1}),
        ((2, 2, 4), (2, 1, 2), {'groups': 2, 'dilate': 2}),
        ((1, 2, 3, 2, 3), (2, 2, 2, 1, 2), {'pad': (1, 0, 1), 'stride': (1, 2, 2)}),
    ],
)
@pytest.mark.parametrize('bias', [True, False])
def test_convolution_nd(x, W, arguments, bias):
    inputs = sample(x, W, *[W[:1]] * bias)
    check_function(
        lambda *xs: F.convolution_nd(*xs, **arguments),
        inputs,
        lambda *xs: convolution(*xs, **arguments),
        tolerances=TOLERANCES,
    )
    named = {3: F.convolution_1d, 5: F.convolution_3d}.get(len(x))
    if named is not None:
        np.testing.assert_array_equal(
            named(*inputs, **arguments).array, F.convolution_nd(*inputs, **arguments).array
        )


DECONVOLUTIONS = [
    ((2, 3, 2, 3), (3, 2, 3, 2), {}),
    ((2, 3, 3, 2), (3, 1, 2, 2), {'stride': 2, 'pad': 1}),
    ((2, 3, 3, 2), (3, 2, 3, 3), {'stride': 2, 'pad': 1, 'outsize': (6, 4)}),
    ((1, 2, 3, 2), (2, 2, 2, 3), {'stride': (1, 2), 'pad': (0, 1), 'dilate': (2, 1)}),
    ((2, 4, 3, 3), (4, 2, 2, 2), {'pad': 1, 'groups': 2}),
    ((2, 3, 3, 2), (3, 4, 1, 1), {}),
]


@pytest.mark.parametrize('x, W, arguments', DECONVOLUTIONS)
@pytest.mark.parametrize('bias', [True, False])
def test_deconvolution_2d(x, W, arguments, bias):
    channels = (W[1] * arguments.get('groups', 1),)
    check_function(
        lambda *xs: F.deconvolution_2d(*xs, **arguments),
        sample(x, W, *[channels] * bias),
        lambda *xs: deconvolution(*xs, **arguments),
        tolerances=TOLERANCES,
    )


@pytest.mark.parametrize('x, W, arguments', DECONVOLUTIONS)
def test_chunks_of_deconvolution(x, W, arguments, chunks):
    check_function(
        lambda *xs: F.deconvolution_2d(*xs, **arguments),
        sample((5, *x[1:]), W),
        lambda *xs: deconvolution(*xs, **arguments),
        dtypes=[np.float32],
        double=False,
        tolerances=TOLERANCES,
        on_chainerx=False,
    )


@pytest.mark.parametrize(
    'x, W, arguments',
    [
        ((2, 3, 4), (3, 2, 2), {'stride': 2, 'pad': 1}),
        ((2, 4, 3), (4, 1, 2), {'groups': 2, 'dilate': 2, 'outsize': (5,)}),
        ((1, 2, 2, 2, 2), (2, 1, 2, 1, 2), {'pad': (1, 0, 0), 'stride': (2, 1, 2)}),
    ],
)
@pytest.mark.parametrize('bias', [True, False])
def test_deconvolution_nd(x, W, arguments, bias):
    channels = (W[1] * arguments.get('groups', 1),)
    inputs = sample(x, W, *[channels] * bias)
    check_function(
        lambda *xs: F.deconvolution_nd(*xs, **arguments),
        inputs,
        lambda *xs: deconvolution(*xs, **arguments),
        tolerances=TOLERANCES,
    )
    named = {3: F.deconvolution_1d, 5: F.deconvolution_3d}[len(x)]
    np.testing.assert_array_equal(
        named(*inputs, **arguments).array, F.deconvolution_nd(*inputs, **arguments).array
    )


@pytest.mark.parametrize('function', [F.convolution_2d, F.deconvolution_2d])
def test_mixed_dtypes(function):
    x, W = sample((2, 2, 3, 3), (2, 2, 2, 2))
    x, W = chainer.Variable(x.astype(np.float16)), chainer.Variable(W.astype(np.float32))
    y = function(x, W)
    y.grad = np.ones_like(y.array)
    y.backward()
    assert (y.dtype, x.grad.dtype, W.grad.dtype) == (np.float16, np.float16, np.float32)


def test_empty_batch():
    x, W = (chainer.Variable(a) for a in sample((0, 2, 3, 3), (4, 2, 2, 2)))
    y = F.convolution_2d(x, W)
    assert y.shape == (0, 4, 2, 2)
    y.grad = np.zeros(y.shape)
    y.backward()
    assert x.grad.shape == x.shape
    assert not W.grad.any()


def test_attributes():
    func = Convolution2DFunction((2, 3), 1, True, dilate=(1, 2), groups=2)
    func.apply(sample((1, 4, 5, 6), (2, 2, 3, 2)))
    assert (func.kh, func.kw, func.sy, func.sx, func.ph, func.pw, func.dy, func.dx) == (
        3,
        2,
        2,
        3,
        1,
        1,
        1,
        2,
    )
    assert func.groups == 2 and func.cover_all
    func = Deconvolution2DFunction(2, (0, 1))
    assert func.outh is func.outw is None
    func.apply(sample((1, 2, 3, 3), (2, 2, 2, 2)))
    assert (func.sy, func.pw, func.outh, func.outw) == (2, 1, 6, 4)
    func = ConvolutionND(3, 1, (0, 1, 2))
    assert (func.ndim, func.stride, func.pad, func.dilate) == (3, (1,) * 3, (0, 1, 2), (1,) * 3)
    assert DeconvolutionND(1, outsize=(3,)).outs == (3,)


def test_gradient_is_a_function_of_the_same_family():
    x, W = (chainer.Variable(a) for a in sample((1, 2, 3, 3), (2, 2, 2, 2)))
    with chainer.using_config('use_native_kernels', 'never'):
        (gx,) = chainer.grad([F.sum(F.convolution_2d(x, W))], [x], enable_double_backprop=True)
    assert gx.creator_node.label == 'Deconvolution2DFunction'


@pytest.mark.parametrize(
    'shapes, arguments',
    [
        (((2, 3, 4), (2, 3, 2, 2)), {}),
        (((2, 3, 4, 4), (2, 2, 2, 2)), {}),
        (((2, 4, 4, 4), (2, 4, 2, 2)), {'groups': 2}),
        (((2, 3, 4, 4), (2, 3, 2, 2), (3,)), {}),
        (((2, 3, 4, 4), (2, 3, 2, 2), (1, 2)), {}),
    ],
)
def test_invalid_types_of_convolution(shapes, arguments):
    with pytest.raises(type_check.InvalidType):
        F.convolution_2d(*sample(*shapes), **arguments)


@pytest.mark.parametrize(
    'shapes, arguments',
    [
        (((2, 3, 4, 4), (2, 3, 2, 2)), {}),
        (((2, 3, 4, 4), (3, 2, 2, 2), (3,)), {}),
        (((2, 3, 4, 4), (3, 2, 2, 2)), {'outsize': (4, 5)}),
        (((2, 3, 4, 4), (3, 2, 2, 2)), {'stride': 2, 'outsize': (10, 8)}),
    ],
)
def test_invalid_types_of_deconvolution(shapes, arguments):
    with pytest.raises(type_check.InvalidType):
        F.deconvolution_2d(*sample(*shapes), **arguments)


@pytest.mark.parametrize('native', ['auto', 'never'])
@pytest.mark.parametrize(
    'function',
    [
        F.convolution_2d,
        F.convolution_nd,
        F.deconvolution_2d,
        F.deconvolution_nd,
        F.dilated_convolution_2d,
        lambda x, W, dilate: L.DilatedConvolution2D(4, 4, 2, dilate=dilate)(x),
    ],
)
@pytest.mark.parametrize('dilate', [0, -1, (1, 0)])
def test_dilate_is_positive(function, dilate, native):
    x, W = sample((2, 4, 5, 5), (4, 4, 2, 2))
    with chainer.using_config('use_native_kernels', native):
        with pytest.raises(ValueError, match='dilate must be positive'):
            function(x.astype('f'), W.astype('f'), dilate=dilate)


@pytest.mark.parametrize('function', [F.convolution_2d, F.deconvolution_2d])
def test_bad_arguments(function):
    x, W = sample((2, 3, 4, 4), (3, 3, 2, 2))
    with pytest.raises(ValueError, match='cudnn_deterministic'):
        function(x, W, deterministic=True)
    with pytest.raises(TypeError, match='unexpected'):
        function(x, W, dilation=2)
    with pytest.raises(type_check.InvalidType):
        function(x.astype(int), W)


@pytest.mark.parametrize('function', [F.convolution_2d, F.convolution_nd])
def test_kernel_larger_than_image(function):
    with pytest.raises(AssertionError, match='should be positive'):
        function(*sample((2, 3, 4, 4), (2, 3, 2, 5)))


@pytest.mark.parametrize(
    'function, W', [(F.convolution_2d, (3, 2, 1, 1)), (F.deconvolution_2d, (3, 1, 1, 1))]
)
def test_channels_no_multiple_of_groups(function, W):
    x = (1, 4, 2, 2) if function is F.convolution_2d else (1, 3, 2, 2)
    error = TypeError if function is F.convolution_2d else ValueError
    with pytest.raises(error, match='divisor'):
        function(*sample(x, W), groups=2)


@pytest.mark.parametrize(
    'function, ndim',
    [
        (F.convolution_1d, 3),
        (F.convolution_3d, 1),
        (F.deconvolution_1d, 2),
        (F.deconvolution_3d, 2),
    ],
)
def test_number_of_dimensions(function, ndim):
    with pytest.raises(ValueError, match='number of dimensions'):
        function(*sample((1, 1, *[2] * ndim), (1, 1, *[1] * ndim)))
