"""Pooling over windows, and its transposes."""

import math

import numpy as np
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
from chainer.functions.pooling import _windows
from chainer.functions.pooling.average_pooling_2d import AveragePooling2D
from chainer.functions.pooling.average_pooling_nd import AveragePoolingND
from chainer.functions.pooling.max_pooling_nd import MaxPoolingND
from chainer.functions.pooling.unpooling_2d import Unpooling2D
from chainer.functions.pooling.upsampling_2d import Upsampling2D
from chainer.utils import type_check


def as_tuple(value, n):
    return value if isinstance(value, tuple) else (value,) * n


def out_size(dim, k, s, p, cover_all):
    return (dim + 2 * p - k + (s - 1 if cover_all else 0)) // s + 1


def windows(dims, ksize, stride, pad, outs):
    """Yields each window, and lists of its elements: number in it and place in the image."""
    for out in np.ndindex(*outs):
        elements = []
        for number, k in enumerate(np.ndindex(*ksize)):
            place = tuple(o * s - p + i for o, s, p, i in zip(out, stride, pad, k))
            if all(0 <= a < dim for a, dim in zip(place, dims)):
                elements.append((number, (..., *place)))
        yield (..., *out), elements


def geometry(ndim, ksize, stride=None, pad=0):
    return [as_tuple(v, ndim) for v in (ksize, ksize if stride is None else stride, pad)]


def pool(x, reduce, ksize, stride, pad, cover_all):
    outs = tuple(out_size(*row, cover_all) for row in zip(x.shape[2:], ksize, stride, pad))
    y = np.zeros((*x.shape[:2], *outs))
    for out, elements in windows(x.shape[2:], ksize, stride, pad, outs):
        y[out] = reduce(
            np.stack([x[place] for _, place in elements], -1),
            np.array([number for number, _ in elements]),
        )
    return y


def max_pool(x, ksize, stride=None, pad=0, cover_all=True):
    return pool(x, lambda v, _: v.max(-1), *geometry(x.ndim - 2, ksize, stride, pad), cover_all)


def argmax_pool(x, ksize, stride=None, pad=0, cover_all=True):
    return pool(
        x,
        lambda v, numbers: numbers[v.argmax(-1)],
        *geometry(x.ndim - 2, ksize, stride, pad),
        cover_all,
    ).astype(int)


def average_pool(x, ksize, stride=None, pad=0, pad_value=0):
    shape = geometry(x.ndim - 2, ksize, stride, pad)

    def reduce(v, _):
        return v.mean(-1) if pad_value is None else v.sum(-1) / math.prod(shape[0])

    return pool(x, reduce, *shape, False)


def unpool(x, ksize, stride=None, pad=0, outsize=None, cover_all=True, indexes=None):
    ksize, stride, pad = geometry(x.ndim - 2, ksize, stride, pad)
    dims = outsize or tuple(
        s * (dim - 1) + k - 2 * p - (s - 1 if cover_all else 0)
        for dim, k, s, p in zip(x.shape[2:], ksize, stride, pad)
    )
    y = np.zeros((*x.shape[:2], *dims))
    for out, elements in windows(dims, ksize, stride, pad, x.shape[2:]):
        for number, place in elements:
            y[place] += x[out] if indexes is None else np.where(indexes[out] == number, x[out], 0)
    return y


def sample(*shape):
    """Distinct values, so that maxima stay where they are under small changes."""
    size = math.prod(shape)
    return np.random.RandomState(0).permutation(size).reshape(shape) / 16 - 1


@pytest.fixture(params=['by element', 'by position'])
def picking(request, monkeypatch):
    if request.param == 'by position':
        monkeypatch.setattr(_windows, '_MANY', 0)


POOLINGS = [
    # input, arguments
    ((2, 3, 4, 4), {'ksize': 2}),
    ((2, 2, 4, 3), {'ksize': (3, 2), 'stride': (2, 1), 'pad': (1, 0)}),
    ((1, 2, 5, 4), {'ksize': 3, 'stride': 1, 'pad': 1}),
    ((2, 2, 3, 5), {'ksize': 1, 'stride': 2}),
    ((2, 2, 2, 3), {'ksize': (2, 3)}),
    ((2, 1, 2, 2), {'ksize': 4, 'pad': 1}),
    ((2, 3, 5), {'ksize': 2}),
    ((1, 2, 3, 2, 3), {'ksize': 2, 'stride': (1, 2, 2), 'pad': (0, 1, 0)}),
]


def test_max_pooling_of_an_image_smaller_than_the_window():
    check_function(
        lambda x: F.max_pooling_2d(x, 2),
        [sample(1, 2, 1, 3)],
        lambda x: max_pool(x, 2),
        grad_tolerance=1e-4,
    )


@pytest.mark.parametrize('shape, arguments', POOLINGS)
@pytest.mark.parametrize('cover_all', [True, False])
def test_max_pooling(shape, arguments, cover_all, picking):
    x = sample(*shape)
    arguments = {**arguments, 'cover_all': cover_all}
    check_function(
        lambda x: F.max_pooling_nd(x, **arguments),
        [x],
        lambda x: max_pool(x, **arguments),
        grad_tolerance=1e-4,
    )
    y, indexes = F.max_pooling_nd(x, **arguments, return_indices=True)
    np.testing.assert_array_equal(y.array, max_pool(x, **arguments))
    np.testing.assert_array_equal(indexes, argmax_pool(x, **arguments))
    assert indexes.dtype == np.intp
    with chainer.no_backprop_mode():
        np.testing.assert_array_equal(F.max_pooling_nd(x, **arguments).array, y.array)
    named = {3: F.max_pooling_1d, 4: F.max_pooling_2d, 5: F.max_pooling_3d}[x.ndim]
    np.testing.assert_array_equal(named(x, **arguments).array, y.array)


def test_window_outside_of_the_image():
    x = chainer.Variable(np.array([[[1, 2, 3, 4]]], np.float32))
    y = F.max_pooling_1d(x, 1, stride=2)
    np.testing.assert_array_equal(y.array, [[[1, 3, -np.inf]]])
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_array_equal(x.grad, [[[1, 0, 1, 0]]])


@pytest.mark.parametrize('shape, arguments', POOLINGS)
@pytest.mark.parametrize('pad_value', [0, None])
def test_average_pooling(shape, arguments, pad_value):
    x = sample(*shape)
    check_function(
        lambda x: F.average_pooling_nd(x, **arguments, pad_value=pad_value),
        [x],
        lambda x: average_pool(x, **arguments, pad_value=pad_value),
    )
    y = F.average_pooling_nd(x, **arguments)
    if x.ndim == 4:
        check_function(
            lambda x: F.average_pooling_2d(x, **arguments),
            [x],
            lambda x: average_pool(x, **arguments),
        )
    else:
        named = {3: F.average_pooling_1d, 5: F.average_pooling_3d}[x.ndim]
        np.testing.assert_array_equal(named(x, **arguments).array, y.array)


def test_average_pooling_of_large_float16():
    x = np.full((1, 1, 8, 8), 60000, np.float16)
    assert F.average_pooling_2d(x, 8).array == 60000


UNPOOLINGS = [
    ((2, 3, 2, 3), {'ksize': 2}),
    ((2, 2, 2, 3), {'ksize': 2, 'outsize': (4, 5)}),
    ((1, 2, 3, 2), {'ksize': (3, 2), 'stride': (2, 1), 'pad': (1, 0)}),
    ((2, 1, 1, 1), {'ksize': 3, 'stride': 1, 'pad': (1, 0)}),
    ((2, 3, 4), {'ksize': 3, 'stride': 2}),
    ((1, 2, 2, 1, 2), {'ksize': 2, 'stride': 1}),
]


@pytest.mark.parametrize('shape, arguments', UNPOOLINGS)
@pytest.mark.parametrize('cover_all', [True, False])
def test_unpooling(shape, arguments, cover_all):
    x = sample(*shape)
    arguments = {**arguments, 'cover_all': cover_all}
    if 'outsize' in arguments and not cover_all:
        arguments['outsize'] = (4, 7)
    check_function(lambda x: F.unpooling_nd(x, **arguments), [x], lambda x: unpool(x, **arguments))
    named = {3: F.unpooling_1d, 4: F.unpooling_2d, 5: F.unpooling_3d}[x.ndim]
    np.testing.assert_array_equal(named(x, **arguments).array, F.unpooling_nd(x, **arguments).array)


@pytest.mark.parametrize(
    'arguments',
    [
        {'ksize': 2, 'outsize': (4, 5)},
        {'ksize': 2},
        {'ksize': (3, 2), 'stride': 1, 'pad': (1, 0)},
        {'ksize': 2, 'cover_all': False},
    ],
)
def test_upsampling(arguments, picking):
    rng = np.random.RandomState(0)
    x = sample(2, 2, 2, 3)
    indexes = rng.randint(0, math.prod(as_tuple(arguments['ksize'], 2)), x.shape)
    check_function(
        lambda x: F.upsampling_2d(x, indexes, **arguments),
        [x],
        lambda x: unpool(x, **arguments, indexes=indexes),
    )


def test_spatial_pyramid_pooling():
    def expected(x):
        ys = [max_pool(x, (5, 7)), max_pool(x, (3, 4), pad=(0, 0))]
        return np.concatenate([y.reshape(len(x), -1, 1, 1) for y in ys], 1)

    check_function(
        lambda x: F.spatial_pyramid_pooling_2d(x, 2, 'max'), [sample(2, 3, 5, 7)], expected
    )
    with pytest.raises(ValueError, match='pooling'):
        F.spatial_pyramid_pooling_2d(sample(2, 3, 5, 7), 2, 'average')


def test_empty_batch():
    x = chainer.Variable(np.zeros((0, 2, 4, 4), np.float32))
    for function in F.max_pooling_2d, F.average_pooling_2d, F.unpooling_2d:
        y = function(x, 2)
        y.grad = y.array
        x.cleargrad()
        y.backward()
        assert len(y) == 0
        assert x.grad.shape == x.shape


@pytest.mark.parametrize(
    'shape, arguments, expected',
    [
        ((0, 2, 3), {'ksize': 2}, (0, 2, 5)),
        ((2, 0, 3, 2), {'ksize': 2}, (2, 0, 5, 3)),
        ((1, 2, 0), {'ksize': 2}, (1, 2, 0)),
        ((1, 2, 0), {'ksize': 3, 'stride': 1, 'cover_all': False}, (1, 2, 2)),
        ((1, 2, 0, 3), {'ksize': 2, 'cover_all': False}, (1, 2, 0, 6)),
        ((1, 2, 0), {'ksize': 2, 'outsize': (0,)}, (1, 2, 0)),
        ((1, 2, 1), {'ksize': 2, 'stride': 1, 'pad': 1, 'cover_all': False}, (1, 2, 0)),
        ((1, 2, 3, 2), {'ksize': 0}, (1, 2, 1, 1)),
        ((1, 2, 3), {'ksize': 0, 'cover_all': False}, (1, 2, 0)),
    ],
)
def test_unpooling_of_sizes_of_zero(shape, arguments, expected):
    """The output has no elements, or zeros only."""
    x = sample(*shape)
    check_function(
        lambda x: F.unpooling_nd(x, **arguments),
        [x],
        lambda x: np.zeros(expected) + 0 * x[:0].sum(),
    )
    if len(shape) == 4 and arguments['ksize']:
        indexes = np.zeros(shape, np.int32)
        check_function(
            lambda x: F.upsampling_2d(x, indexes, **arguments), [x], lambda x: np.zeros(expected)
        )


def test_attributes():
    func = AveragePooling2D(2, (3, 1), 1, False)
    assert (func.kh, func.kw, func.sy, func.sx, func.ph, func.pw, func.cover_all) == (
        2,
        2,
        3,
        1,
        1,
        1,
        False,
    )
    func = MaxPoolingND(3, 2, pad=(0, 1, 0))
    assert (func.ndim, func.ksize, func.stride, func.pad) == (3, (2,) * 3, (2,) * 3, (0, 1, 0))
    assert func.cover_all and not func.return_indices
    func = Unpooling2D(2, outsize=(3, 4))
    assert (func.outh, func.outw, func.kh) == (3, 4, 2)
    func = Upsampling2D(np.zeros((1, 1, 2, 2), int), 2)
    assert func.outh is None and func.indexes.shape == (1, 1, 2, 2)


@pytest.mark.parametrize(
    'function, x',
    [
        (F.max_pooling_2d, np.zeros((1, 1, 4, 4), int)),
        (F.average_pooling_2d, np.zeros((1, 1, 4), np.float32)),
        (F.unpooling_2d, np.zeros((1, 1, 4, 4), int)),
        (lambda x, k: F.unpooling_2d(x, k, outsize=(9, 3)), np.zeros((1, 1, 4, 4), np.float32)),
        (
            lambda x, k: F.upsampling_2d(x, np.zeros((1, 1, 4, 3), int), k),
            np.zeros((1, 1, 4, 4), np.float32),
        ),
    ],
)
def test_invalid_types(function, x):
    with pytest.raises(type_check.InvalidType):
        function(x, 2)


@pytest.mark.parametrize(
    'function, ndim',
    [
        (F.max_pooling_1d, 2),
        (F.max_pooling_2d, 1),
        (F.max_pooling_3d, 2),
        (F.average_pooling_1d, 2),
        (F.average_pooling_3d, 2),
        (F.unpooling_1d, 2),
        (F.unpooling_3d, 2),
    ],
)
def test_number_of_dimensions(function, ndim):
    with pytest.raises(ValueError, match='number of dimensions'):
        function(sample(1, 1, *[2] * ndim), 1)


def test_bad_arguments():
    with pytest.raises(ValueError, match='pad_value'):
        F.average_pooling_nd(sample(1, 1, 4), 2, pad_value=1)
    with pytest.raises(ValueError, match='cover_all'):
        AveragePoolingND(2, 2, cover_all=True)
    with pytest.raises(AssertionError, match='should be positive'):
        F.average_pooling_2d(sample(1, 1, 2, 2), 3)
    with pytest.raises(AssertionError, match='should not be negative'):
        F.unpooling_nd(sample(1, 1, 1), 2, pad=1)
    with pytest.raises(AssertionError):
        F.max_pooling_2d(sample(1, 1, 4, 4), (2, 2, 2))
