"""Attributes of functions that exporters and hooks of programs for Chainer 7 read."""

import numpy as np
import pytest

import chainer
from chainer import functions as F


def draw(*shape):
    return np.random.RandomState(0).uniform(0.1, 1, shape).astype('f')


X, X4, C = draw(2, 3), draw(2, 4, 6, 6), draw(4)
W, WT = draw(6, 2, 3, 3), draw(4, 3, 3, 3)
ROIS = np.array([[0, 0, 0, 3, 3]], 'f')
POOL = {'kh': 3, 'kw': 2, 'sy': 2, 'sx': 1, 'ph': 1, 'pw': 0}
CONV = {'sy': 2, 'sx': 1, 'ph': 1, 'pw': 0, 'dy': 1, 'dx': 2}

# Calls, and attributes of their function.
ROWS = {
    'cast': (lambda: F.cast(V(X), 'd'), {'type': 'd'}),
    'concat': (lambda: F.concat([V(X), V(X)], 0), {'axis': 0}),
    'expand_dims': (lambda: F.expand_dims(V(X), 1), {'axis': 1}),
    'get_item': (lambda: V(X)[1, :2], {'slices': (1, slice(None, 2))}),
    'pad': (
        lambda: F.pad(V(X), ((1, 2), (3, 4)), 'constant', constant_values=5),
        {'pad_bw': [[1, 2], [3, 4]], 'mode': 'constant', 'keywords': {'constant_values': 5}},
    ),
    'pad both sides': (lambda: F.pad(V(X), (1, 2), 'edge'), {'pad_bw': [1, 2], 'mode': 'edge'}),
    'pad by a number': (lambda: F.pad(V(X), 2, 'constant'), {'pad_bw': [2, 2]}),
    'permutate': (
        lambda: F.permutate(V(X), np.array([1, 0], 'i'), inv=True),
        {'axis': 0, 'inv': True},
    ),
    'repeat': (lambda: F.repeat(V(X), 3, 1), {'repeats': (3,), 'axis': 1}),
    'reshape': (lambda: V(X).reshape(3, 2), {'shape': (3, 2)}),
    'resize_images': (
        lambda: F.resize_images(V(X4), (3, 4)),
        {'out_H': 3, 'out_W': 4, 'mode': 'bilinear', 'align_corners': True},
    ),
    'rollaxis': (lambda: F.rollaxis(V(X), 1, 0), {'axis': 1, 'start': 0}),
    'split_axis': (
        lambda: F.split_axis(V(X), [1], 1)[0],
        {'indices': [1], 'sections': None, 'axis': 1},
    ),
    'squeeze': (lambda: F.squeeze(V(X[None]), 0), {'axis': (0,)}),
    'stack': (lambda: F.stack([V(X), V(X)], 1), {'axis': 1}),
    'swapaxes': (lambda: F.swapaxes(V(X), 0, 1), {'axis1': 0, 'axis2': 1}),
    'tile': (lambda: F.tile(V(X), (2, 1)), {'reps': (2, 1)}),
    'transpose': (lambda: F.transpose(V(X)), {'axes': None}),
    'depth2space': (lambda: F.depth2space(V(X4), 2), {'r': 2}),
    'im2col': (
        lambda: F.im2col(V(X4), (3, 2), (2, 1), (1, 0), dilate=(1, 2)),
        {**POOL, 'dy': 1, 'dx': 2, 'cover_all': False},
    ),
    'broadcast_to': (lambda: F.broadcast_to(V(X), (4, 2, 3)), {'_shape': (4, 2, 3)}),
    'clipped_relu': (lambda: F.clipped_relu(V(X), 0.5), {'cap': 0.5}),
    'elu': (lambda: F.elu(V(X), 0.5), {'alpha': 0.5}),
    'leaky_relu': (lambda: F.leaky_relu(V(X), 0.5), {'slope': 0.5}),
    'softmax': (lambda: F.softmax(V(X), 0), {'axis': 0}),
    'softplus': (lambda: F.softplus(V(X), 2.0), {'beta': 2}),
    'clip': (lambda: F.clip(V(X), 0.25, 0.5), {'x_min': 0.25, 'x_max': 0.5}),
    'add a constant': (lambda: V(X) + 2, {'value': 2}),
    'power of a constant': (lambda: 2 ** V(X), {'value': 2}),
    'matmul': (lambda: F.matmul(V(X), V(X), transb=True), {'transa': False, 'transb': True}),
    'sum': (lambda: F.sum(V(X), 1, keepdims=True), {'axis': (1,), 'keepdims': True}),
    'convolution_2d': (
        lambda: F.convolution_2d(V(X4), V(W), None, (2, 1), (1, 0), dilate=(1, 2), groups=2),
        {**CONV, 'groups': 2, 'cover_all': False},
    ),
    'deconvolution_2d': (
        lambda: F.deconvolution_2d(V(X4), V(WT), None, (2, 1), (1, 0), dilate=(1, 2)),
        {**CONV, 'groups': 1, 'outh': 11, 'outw': 10},
    ),
    'convolution_nd': (
        lambda: F.convolution_nd(V(X4), V(draw(2, 4, 3, 3)), None, 2, 1),
        {'ndim': 2, 'stride': (2, 2), 'pad': (1, 1), 'dilate': (1, 1), 'groups': 1},
    ),
    'average_pooling_2d': (lambda: F.average_pooling_2d(V(X4), (3, 2), (2, 1), (1, 0)), POOL),
    'max_pooling_2d': (
        lambda: F.max_pooling_2d(V(X4), (3, 2), (2, 1), (1, 0), cover_all=False),
        {'ndim': 2, 'ksize': (3, 2), 'stride': (2, 1), 'pad': (1, 0), 'cover_all': False},
    ),
    'unpooling_2d': (
        lambda: F.unpooling_2d(V(X4), (3, 2), (2, 1), (1, 0), cover_all=False),
        {**POOL, 'outh': 11, 'outw': 7},
    ),
    'roi_pooling_2d': (
        lambda: F.roi_pooling_2d(V(X4), ROIS, 2, 3, 0.5),
        {'outh': 2, 'outw': 3, 'spatial_scale': 0.5},
    ),
    'dropout': (lambda: F.dropout(V(X), 0.25), {'dropout_ratio': 0.25}),
    'batch_normalization': (
        lambda: F.batch_normalization(V(X4), V(C), V(C), eps=1e-3, decay=0.5),
        {'eps': 1e-3, 'decay': 0.5, 'axis': (0, 2, 3), 'key_axis': (1,)},
    ),
    'batch_normalization of an axis': (
        lambda: F.batch_normalization(V(X), V(draw(2)), V(draw(2)), axis=1),
        {'axis': (1,), 'key_axis': (0,)},
    ),
    'fixed_batch_normalization': (
        lambda: F.fixed_batch_normalization(V(X4), V(C), V(C), V(C), V(C), eps=1e-3),
        {'eps': 1e-3, 'key_axis': (1,)},
    ),
    'local_response_normalization': (
        lambda: F.local_response_normalization(V(X4), 3, 1, 0.5, 0.25),
        {'n': 3, 'k': 1, 'alpha': 0.5, 'beta': 0.25},
    ),
    'embed_id': (
        lambda: F.embed_id(np.array([0, 1], 'i'), V(X), ignore_label=1),
        {'ignore_label': 1},
    ),
    'softmax_cross_entropy': (
        lambda: F.softmax_cross_entropy(V(X), np.array([0, 1], 'i'), normalize=False),
        {'ignore_label': -1, 'normalize': False, 'reduce': 'mean', 'class_weight': None},
    ),
    'forget': (lambda: F.forget(F.exp, V(X)), {'func': F.exp}),
}


def V(array):
    return chainer.Variable(array)


@pytest.mark.parametrize('name', ROWS)
def test_attributes(name):
    call, attributes = ROWS[name]
    func = call().creator
    for attribute, expected in attributes.items():
        actual = getattr(func, attribute)
        if isinstance(actual, np.ndarray):
            actual = actual.tolist()
        assert actual == expected, attribute


def test_key_axis_without_a_graph():
    func = F.normalization.batch_normalization.BatchNormalization()
    assert func.key_axis is None
