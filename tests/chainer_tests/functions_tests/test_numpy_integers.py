"""NumPy integers as sizes, strides, axes and indexes: they serve as Python's do."""

import numpy as np
import pytest

import chainer
import chainerx
from chainer import functions as F
from tests.helpers.devices import CHX

_random = np.random.RandomState(0)
IMAGE = _random.uniform(-1, 1, (2, 4, 6, 6)).astype('f')
W = _random.uniform(-1, 1, (2, 4, 3, 3)).astype('f')
FLIPPED = W.reshape(4, 2, 3, 3)
MATRIX = IMAGE[0, 0, :2, :3].copy()
VECTOR = MATRIX[0].copy()
ROIS, INDEX = np.array([[0, 0, 4, 4]], 'f'), np.array([0], 'i')
DEVICES = ['@numpy'] + ([CHX[0]] if chainerx.is_available() else [])

# Functions of the type of integers, and of arrays.
CALLS = {
    'argmax': (lambda i, x: F.argmax(x, axis=i(1)), IMAGE),
    'as_strided': (lambda i, x: F.as_strided(x, (i(2), i(2)), (i(1), i(1)), i(0)), VECTOR),
    'average_pooling_2d': (lambda i, x: F.average_pooling_2d(x, i(2), i(2), i(1)), IMAGE),
    'average_pooling_nd': (lambda i, x: F.average_pooling_nd(x, i(2), i(2), i(1)), IMAGE),
    'batch_normalization': (
        lambda i, x, y: F.batch_normalization(x, y, y, axis=(i(0), i(2), i(3))),
        IMAGE,
        np.ones(4, 'f'),
    ),
    'bias': (lambda i, x, y: F.bias(x, y, axis=i(1)), MATRIX, VECTOR),
    'broadcast_to': (lambda i, x: F.broadcast_to(x, (i(3), i(2), i(3))), MATRIX),
    'concat': (lambda i, x: F.concat([x, x], axis=i(1)), IMAGE),
    'convolution_1d': (
        lambda i, x, w: F.convolution_1d(x, w, None, i(2), i(1)),
        IMAGE[:, :, 0].copy(),
        W[:, :, 0].copy(),
    ),
    'convolution_2d': (
        lambda i, x, w: F.convolution_2d(x, w, None, i(2), i(1), dilate=i(1), groups=i(1)),
        IMAGE,
        W,
    ),
    'convolution_2d, pairs': (
        lambda i, x, w: F.convolution_2d(x, w, None, (i(2), i(1)), [i(1), i(0)]),
        IMAGE,
        W,
    ),
    'convolution_nd': (
        lambda i, x, w: F.convolution_nd(x, w, None, i(2), i(1), dilate=i(2), groups=i(1)),
        IMAGE,
        W,
    ),
    'crelu': (lambda i, x: F.crelu(x, axis=i(1)), IMAGE),
    'cumprod': (lambda i, x: F.cumprod(x, axis=i(1)), IMAGE),
    'cumsum': (lambda i, x: F.cumsum(x, axis=i(1)), IMAGE),
    'deconvolution_2d': (
        lambda i, x, w: F.deconvolution_2d(x, w, None, i(2), i(1), (i(12), i(12))),
        IMAGE,
        FLIPPED,
    ),
    'deconvolution_nd': (
        lambda i, x, w: F.deconvolution_nd(x, w, None, i(2), i(1), (i(12), i(12))),
        IMAGE,
        FLIPPED,
    ),
    'deformable_convolution_2d_sampler': (
        lambda i, x, o, w: F.deformable_convolution_2d_sampler(x, o, w, None, i(1), i(1)),
        IMAGE,
        np.full((2, 18, 6, 6), 0.3, 'f'),
        W,
    ),
    'depth2space': (lambda i, x: F.depth2space(x, i(2)), IMAGE),
    'diagonal': (lambda i, x: F.diagonal(x, i(0), i(0), i(1)), MATRIX),
    'dilated_convolution_2d': (
        lambda i, x, w: F.dilated_convolution_2d(x, w, None, i(1), i(1), i(2)),
        IMAGE,
        W,
    ),
    'expand_dims': (lambda i, x: F.expand_dims(x, i(1)), IMAGE),
    'flip': (lambda i, x: F.flip(x, i(1)), IMAGE),
    'get_item': (lambda i, x: x[i(1), i(0) : i(2)], IMAGE),
    'get_item, list': (lambda i, x: F.get_item(x, [i(1), i(0)]), IMAGE),
    'group_normalization': (
        lambda i, x, y: F.group_normalization(x, i(2), y, y),
        IMAGE,
        np.ones(4, 'f'),
    ),
    'im2col': (lambda i, x: F.im2col(x, i(3), i(1), i(1), dilate=i(1)), IMAGE),
    'linear': (
        lambda i, x, w: F.linear(x, w, n_batch_axes=i(2)),
        IMAGE[0],
        np.ones((2, 6), 'f'),
    ),
    'local_convolution_2d': (
        lambda i, x, w: F.local_convolution_2d(x, w, stride=i(3)),
        IMAGE,
        np.ones((2, 2, 2, 4, 3, 3), 'f'),
    ),
    'local_response_normalization': (
        lambda i, x: F.local_response_normalization(x, i(3)),
        IMAGE,
    ),
    'log_softmax': (lambda i, x: F.log_softmax(x, axis=i(2)), IMAGE),
    'logsumexp': (lambda i, x: F.logsumexp(x, axis=(i(1), i(2))), IMAGE),
    'max': (lambda i, x: F.max(x, axis=(i(1), i(2))), IMAGE),
    'max_pooling_2d': (lambda i, x: F.max_pooling_2d(x, i(2), i(2), i(1)), IMAGE),
    'max_pooling_nd': (lambda i, x: F.max_pooling_nd(x, (i(2), i(1)), [i(2), i(1)], i(0)), IMAGE),
    'maxout': (lambda i, x: F.maxout(x, i(2), axis=i(1)), IMAGE),
    'mean': (lambda i, x: F.mean(x, axis=i(1)), IMAGE),
    'moveaxis': (lambda i, x: F.moveaxis(x, i(1), i(0)), IMAGE),
    'moveaxis, tuples': (lambda i, x: F.moveaxis(x, (i(1), i(2)), (i(0), i(1))), IMAGE),
    'normalize': (lambda i, x: F.normalize(x, axis=(i(1), i(2))), IMAGE),
    'pad': (lambda i, x: F.pad(x, ((i(1), i(0)), (i(0), i(2))), 'constant'), MATRIX),
    'pad_sequence': (lambda i, x: F.pad_sequence([x, x[:1]], i(4)), MATRIX),
    'repeat': (lambda i, x: F.repeat(x, i(2), axis=i(1)), MATRIX),
    'repeat, tuple': (lambda i, x: F.repeat(x, (i(2), i(1)), axis=i(0)), MATRIX),
    'reshape': (lambda i, x: F.reshape(x, (i(2), i(-1))), IMAGE),
    'resize_images': (lambda i, x: F.resize_images(x, (i(3), i(4))), IMAGE),
    'roi_average_align_2d': (
        lambda i, x, *r: F.roi_average_align_2d(x, *r, (i(2), i(2)), 1.0, i(2)),
        IMAGE,
        ROIS,
        INDEX,
    ),
    'roi_max_pooling_2d': (
        lambda i, x, *r: F.roi_max_pooling_2d(x, *r, i(2), 1.0),
        IMAGE,
        ROIS,
        INDEX,
    ),
    'rollaxis': (lambda i, x: F.rollaxis(x, i(2), i(1)), IMAGE),
    'scale': (lambda i, x, y: F.scale(x, y, axis=i(1)), MATRIX, VECTOR),
    'scatter_add': (lambda i, x: F.scatter_add(x, i(0), x[0]), MATRIX),
    'separate': (lambda i, x: F.separate(x, axis=i(1)), IMAGE),
    'shift': (lambda i, x: F.shift(x, i(1), i(1)), IMAGE),
    'softmax': (lambda i, x: F.softmax(x, axis=i(2)), IMAGE),
    'space2depth': (lambda i, x: F.space2depth(x, i(2)), IMAGE),
    'spatial_pyramid_pooling_2d': (
        lambda i, x: F.spatial_pyramid_pooling_2d(x, i(2), pooling='max'),
        IMAGE,
    ),
    'spatial_transformer_grid': (
        lambda i, x: F.spatial_transformer_grid(x, (i(3), i(2))),
        np.ones((1, 2, 3), 'f'),
    ),
    'split_axis': (lambda i, x: F.split_axis(x, i(2), i(1)), IMAGE),
    'split_axis, tuple': (lambda i, x: F.split_axis(x, (i(1), i(2)), i(1)), IMAGE),
    'squeeze': (lambda i, x: F.squeeze(x, (i(0), i(1))), IMAGE[:1, :1].copy()),
    'stack': (lambda i, x: F.stack([x, x], axis=i(1)), IMAGE),
    'sum': (lambda i, x: F.sum(x, axis=i(1)), IMAGE),
    'sum_to': (lambda i, x: F.sum_to(x, (i(1), i(3))), MATRIX),
    'swapaxes': (lambda i, x: F.swapaxes(x, i(1), i(0)), IMAGE),
    'tensordot': (lambda i, x: F.tensordot(x, x, axes=i(2)), MATRIX),
    'tensordot, pair': (lambda i, x: F.tensordot(x, x, axes=(i(1), i(1))), MATRIX),
    'tile': (lambda i, x: F.tile(x, i(2)), MATRIX),
    'tile, tuple': (lambda i, x: F.tile(x, (i(2), i(1))), MATRIX),
    'transpose': (lambda i, x: F.transpose(x, (i(1), i(0), i(3), i(2))), IMAGE),
    'unpooling_2d': (lambda i, x: F.unpooling_2d(x, i(2), i(2), i(0), (i(12), i(12))), IMAGE),
    'unpooling_nd': (lambda i, x: F.unpooling_nd(x, i(2), i(2), i(0), (i(12), i(12))), IMAGE),
}


def _call(f, kind, arrays, device):
    """Arrays of outputs and of gradients."""
    xs = [chainer.Variable(chainer.get_device(device).send(a.copy())) for a in arrays]
    ys = f(kind, *xs)
    ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
    for y in ys:
        assert all(type(n) is int for n in y.shape)
    if ys[0].dtype.kind == 'f':
        F.sum(ys[0] * ys[0]).backward()
    return [
        chainer.get_device('@numpy').send(a)
        for a in [y.array for y in ys] + [x.grad for x in xs if x.grad is not None]
    ]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', CALLS)
def test_numpy_integers(name, device):
    f, *arrays = CALLS[name]
    expected = _call(f, int, arrays, device)
    actual = _call(f, np.int64, arrays, device)
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
