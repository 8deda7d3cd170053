"""Arguments beside the inputs: what raises which error, and with which words."""

import importlib
import inspect
import itertools
import pkgutil
import re

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.utils import type_check

X = np.random.RandomState(0).uniform(-1, 1, (2, 3)).astype('f')
IMAGE = np.ones((2, 4, 6, 6), 'f')
W = np.ones((2, 4, 3, 3), 'f')
T = np.array([0, 1], 'i')
ROIS, INDEX = np.array([[0, 0, 3, 3]], 'f'), np.array([0], 'i')
LOSSES = {
    'contrastive': (X, X, T),
    'triplet': (X, X, X),
    'hinge': (X, T),
    'huber_loss': (X, X, 1.0),
    'cross_covariance': (X, X),
    'decov': (X,),
    'gaussian_kl_divergence': (X, X),
    'sigmoid_cross_entropy': (X, X.astype('i')),
    'bernoulli_nll': (X, X),
    'gaussian_nll': (X, X, X),
    'softmax_cross_entropy': (X, T),
    'crf1d': (np.ones((3, 3), 'f'), [X], [T]),
    'negative_sampling': (X, T, X, lambda size: np.zeros(size, 'i'), 2),
    'connectionist_temporal_classification': ([X], T[:, None], 2),
}


@pytest.mark.parametrize('name', LOSSES)
def test_reduce(name):
    with pytest.raises(ValueError, match=r"^only '.*' are valid for 'reduce', but 'x' is given$"):
        getattr(F, name)(*LOSSES[name], reduce='x')


def test_the_table_has_every_reduce_option():
    import inspect

    named = {
        name
        for name in dir(F)
        if inspect.isfunction(getattr(F, name))
        and 'reduce' in inspect.signature(getattr(F, name)).parameters
    }
    # Chainer 7 takes any reduction for this one.
    assert named == {*LOSSES, 'black_out'}


OLD = 'not supported anymore'


@pytest.mark.parametrize(
    'name, call, message',
    [
        ('dropout', lambda **kw: F.dropout(X, **kw), {'train': True}),
        ('zoneout', lambda **kw: F.zoneout(X, X, **kw), {'train': True}),
        ('rrelu', lambda **kw: F.rrelu(X, **kw), {'train': True}),
        (
            'batch_normalization',
            lambda **kw: F.batch_normalization(X, X[0], X[0], **kw),
            {'train': True},
        ),
        ('convolution_2d', lambda **kw: F.convolution_2d(IMAGE, W, **kw), {'deterministic': True}),
        (
            'convolution_2d',
            lambda **kw: F.convolution_2d(IMAGE, W, **kw),
            {'requires_x_grad': True},
        ),
        (
            'deconvolution_2d',
            lambda **kw: F.deconvolution_2d(IMAGE, W, **kw),
            {'deterministic': True},
        ),
        (
            'spatial_transformer_grid',
            lambda **kw: F.spatial_transformer_grid(X[:, None], (2, 2), **kw),
            {'use_cudnn': False},
        ),
        (
            'spatial_transformer_sampler',
            lambda **kw: F.spatial_transformer_sampler(IMAGE, IMAGE, **kw),
            {'use_cudnn': False},
        ),
        (
            'n_step_lstm_base',
            lambda **kw: F.n_step_lstm(1, 0.0, X, X, [], [], [X], **kw),
            {'use_cudnn': False},
        ),
        (
            'n_step_gru_base',
            lambda **kw: F.n_step_bigru(1, 0.0, X, [], [], [X], **kw),
            {'train': False},
        ),
        (
            'n_step_rnn_base',
            lambda **kw: F.n_step_rnn(1, 0.0, X, [], [], [X], **kw),
            {'train': False},
        ),
        ('negative_sampling', lambda **kw: F.negative_sampling(X, T, X, None, 2, **kw), None),
        ('gaussian', lambda **kw: F.gaussian(X, X, **kw), None),
    ],
)
def test_keywords(name, call, message):
    with pytest.raises(
        TypeError,
        match=rf'^{name}\(\) got unexpected keyword argument\(s\) '
        r"'another', 'nonsense'$",
    ):
        call(nonsense=1, another=2)
    if message:
        with pytest.raises(ValueError, match=OLD):
            call(**message)


@pytest.mark.parametrize(
    'axis, error',
    [
        (2, type_check.InvalidType),
        (-3, type_check.InvalidType),
        ((0, 2), type_check.InvalidType),
        ((1, 1), ValueError),
        (1.0, TypeError),
        ([0], TypeError),
        ('a', TypeError),
        ((0, 'a'), TypeError),
    ],
)
@pytest.mark.parametrize('name', ['sum', 'max', 'min', 'prod', 'mean', 'logsumexp'])
def test_axis_of_reduction(name, axis, error):
    with pytest.raises(error):
        getattr(F, name)(X, axis=axis)


@pytest.mark.parametrize('axis, error', [(2, type_check.InvalidType), (-3, type_check.InvalidType)])
@pytest.mark.parametrize(
    'name',
    [
        'softmax',
        'log_softmax',
        'cumsum',
        'cumprod',
        'argmax',
        'argmin',
        'crelu',
        'flip',
        'normalize',
    ],
)
def test_single_axis(name, axis, error):
    with pytest.raises(error):
        getattr(F, name)(X, axis=axis)


def _align(outsize=2, scale=1.0, ratio=None):
    return F.roi_average_align_2d(IMAGE, ROIS, INDEX, outsize, scale, ratio)


@pytest.mark.parametrize(
    'call, error',
    [
        (lambda: F.concat([X, X], axis=1.0), TypeError),
        (lambda: F.concat([X, X], axis=2), type_check.InvalidType),
        (lambda: F.concat([]), type_check.InvalidType),
        (lambda: F.stack([X, X], axis=3), type_check.InvalidType),
        (lambda: F.stack([]), type_check.InvalidType),
        (lambda: F.split_axis(X, 2, 1), type_check.InvalidType),
        (lambda: F.split_axis(X, [4], 1), type_check.InvalidType),
        (lambda: F.split_axis(X, 1.5, 1), TypeError),
        (lambda: F.split_axis(X, 0, 1), ZeroDivisionError),
        (lambda: F.rollaxis(X, 1.0), TypeError),
        (lambda: F.moveaxis(X, (0, 0), (0, 1)), ValueError),
        (lambda: F.moveaxis(X, (0, 1), 0), ValueError),
        (lambda: F.repeat(X, -1), ValueError),
        (lambda: F.repeat(X, 1.0), TypeError),
        (lambda: F.tile(X, (-1,)), ValueError),
        (lambda: F.tile(X, 1.0), TypeError),
        (lambda: F.squeeze(X, 1.0), TypeError),
        (lambda: F.squeeze(X, 1), ValueError),
        (lambda: F.permutate(X, np.array([0.0, 1.0])), ValueError),
        (lambda: F.resize_images(IMAGE, (3, 3), mode='x'), AssertionError),
        (lambda: F.clip(X, None, None), ValueError),
        (lambda: F.clipped_relu(X, 20), TypeError),
        (lambda: F.maxout(X, 2), type_check.InvalidType),
        (lambda: F.maxout(X, 0), ValueError),
        (lambda: F.rrelu(X, 0.5, 0.2), ValueError),
        (lambda: F.rrelu(X, -1, 0.2), ValueError),
        (lambda: F.dropout(X, 1.0), ValueError),
        (lambda: F.simplified_dropconnect(X, X, ratio=1.0), ZeroDivisionError),
        (lambda: F.hinge(X, T, norm='L3'), NotImplementedError),
        (lambda: F.contrastive(X, X, T, margin=0), ValueError),
        (lambda: F.triplet(X, X, X, margin=-1), ValueError),
        (lambda: F.r2_score(X, X, multioutput='x'), ValueError),
        (lambda: F.r2_score(X, X, sample_weight=X), NotImplementedError),
        (lambda: F.softmax_cross_entropy(X, T, class_weight=np.ones(3, 'i')), ValueError),
        (lambda: F.softmax_cross_entropy(X, T, class_weight=X), ValueError),
        (lambda: F.softmax_cross_entropy(X, T, class_weight=np.ones(4, 'f')), ValueError),
        (lambda: F.softmax_cross_entropy(X, T, class_weight=chainer.Variable(X[0])), ValueError),
        (lambda: F.softmax_cross_entropy(X, T, soft_target_loss='x'), ValueError),
        (lambda: F.linear(X, X, n_batch_axes=0), ValueError),
        (lambda: F.bilinear(X, X, np.ones((3, 3, 2), 'f'), b=X[0, :2]), ValueError),
        (lambda: F.einsum('ij->ii', X), ValueError),
        (lambda: F.tensordot(X, X, ((1,), (0, 1))), ValueError),
        (lambda: F.tensordot(X, X.T, ((5,), (0,))), type_check.InvalidType),
        (lambda: F.tensordot(X, X.T, (1, -3)), type_check.InvalidType),
        (lambda: F.tensordot(X, X.T, ((1, 1), (0, 0))), ValueError),
        (lambda: F.polygamma(1.5, X), type_check.InvalidType),
        (lambda: F.convolution_2d(IMAGE, np.ones((3, 2, 3, 3), 'f'), groups=2), TypeError),
        (lambda: F.convolution_2d(IMAGE, np.ones((2, 4, 7, 7), 'f')), AssertionError),
        (lambda: F.convolution_1d(IMAGE, W), ValueError),
        (lambda: F.convolution_nd(IMAGE, W, stride=(1, 1, 1)), AssertionError),
        (
            lambda: F.deconvolution_2d(IMAGE, W.reshape(4, 2, 3, 3), stride=2, outsize=(20, 14)),
            type_check.InvalidType,
        ),
        (lambda: F.deconvolution_nd(IMAGE, W.reshape(4, 2, 3, 3), outsize=(8,)), AssertionError),
        (lambda: F.max_pooling_2d(X, 2), ValueError),
        (lambda: F.max_pooling_2d(IMAGE, 9, cover_all=False), AssertionError),
        (lambda: F.average_pooling_nd(IMAGE, 2, pad_value=1), ValueError),
        (lambda: F.unpooling_2d(IMAGE, 2, outsize=(5, 5)), type_check.InvalidType),
        (lambda: F.spatial_pyramid_pooling_2d(IMAGE, 2, 'avg'), ValueError),
        (lambda: _align(outsize=0), TypeError),
        (lambda: _align(outsize=2.5), TypeError),
        (lambda: _align(outsize=(2, -1)), TypeError),
        (lambda: _align(scale=-1.0), TypeError),
        (lambda: _align(scale='a'), TypeError),
        (lambda: _align(ratio=0), TypeError),
        (lambda: _align(ratio=1.5), TypeError),
        (lambda: F.roi_pooling_2d(IMAGE, ROIS, 0, 2, 1.0), ValueError),
        (lambda: F.batch_normalization(X, X[0], X[0], axis=(1, 0)), RuntimeError),
        (lambda: F.batch_normalization(X, X[0], X[0], axis='a'), TypeError),
        (lambda: F.batch_renormalization(X, X[0], X[0], 1, 0), TypeError),
        (lambda: F.batch_normalization(X, X[0], X[0], running_mean=X[0].copy()), ValueError),
        (lambda: F.group_normalization(IMAGE, 3, np.ones(4, 'f'), np.ones(4, 'f')), ValueError),
        (lambda: F.group_normalization(IMAGE, 2.0, np.ones(4, 'f'), np.ones(4, 'f')), TypeError),
        (
            lambda: F.n_step_rnn(1, 0.0, X[None], [[X, X]], [[X, X]], [X], activation='x'),
            ValueError,
        ),
        (lambda: F.inv(np.zeros((2, 2), 'f')), np.linalg.LinAlgError),
    ],
)
def test_values(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    'call',
    [
        lambda: F.embed_id(np.array([3]), X),
        lambda: F.select_item(X, np.array([0, 3], 'i')),
        lambda: F.permutate(X, np.array([0, 0], 'i')),
        lambda: F.get_item(X, (..., ...)),
        lambda: F.softmax_cross_entropy(X, np.array([0, 3], 'i')),
    ],
)
def test_debug_mode_checks_values(call):
    with chainer.using_config('debug', True), pytest.raises(ValueError):
        call()


@pytest.mark.parametrize(
    'func, inputs',
    [
        (F.array.spatial_transformer_grid.SpatialTransformerGrid((2, 2)), (X[None],)),
        (F.array.spatial_transformer_sampler.SpatialTransformerSampler(), (IMAGE, IMAGE[:, :2])),
        (F.evaluation.binary_accuracy.BinaryAccuracy(), (X, X.astype('i'))),
        (F.evaluation.classification_summary.ClassificationSummary(3, 1.0, -1), (X, T)),
        (F.evaluation.r2_score.R2_score(None, 'raw_values'), (X, X)),
        (F.loss.ctc.ConnectionistTemporalClassification(2), (T + 1, T + 1, T[:, None], X)),
        (F.loss.decov.DeCov(), (X,)),
        (F.loss.hinge.Hinge(), (X, T)),
        (
            F.normalization.batch_renormalization.BatchRenormalizationFunction(
                mean=np.zeros(3, 'f'), var=np.ones(3, 'f')
            ),
            (X, X[0], X[0]),
        ),
        (F.pooling.roi_average_align_2d.ROIAverageAlign2D(2, 1.0), (IMAGE, ROIS, INDEX)),
        (F.pooling.roi_average_pooling_2d.ROIAveragePooling2D(2, 1.0), (IMAGE, ROIS, INDEX)),
        (F.pooling.roi_max_align_2d.ROIMaxAlign2D(2, 1.0), (IMAGE, ROIS, INDEX)),
        (F.pooling.roi_max_pooling_2d.ROIMaxPooling2D(2, 1.0), (IMAGE, ROIS, INDEX)),
        (F.rnn.tree_lstm.TreeLSTM(), (X, X, np.ones((2, 15), 'f'))),
    ],
)
def test_classes_that_were_old_style_functions_are_callable(func, inputs):
    outputs = func(*inputs)
    expected = type(func).apply(func, inputs)
    for y, e in zip(outputs if isinstance(outputs, tuple) else (outputs,), expected, strict=True):
        np.testing.assert_array_equal(y.array, e.array)


def test_other_classes_are_applied():
    with pytest.raises(RuntimeError, match='apply'):
        F.activation.relu.ReLU()(X)


def _modules():
    names = [m.name for m in pkgutil.walk_packages(F.__path__, 'chainer.functions.')]
    return [importlib.import_module(name) for name in names]


def _defaults(f):
    parameters = inspect.signature(f).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def test_defaults_of_functions_and_their_nodes_agree():
    compared = 0
    for module in _modules():
        own = [
            v for v in vars(module).values() if getattr(v, '__module__', None) == module.__name__
        ]
        public = [f for f in own if inspect.isfunction(f) and not f.__name__.startswith('_')]
        nodes = [c for c in own if inspect.isclass(c) and issubclass(c, chainer.FunctionNode)]
        for function, node in itertools.product(public, nodes):
            defaults, others = _defaults(function), _defaults(node.__init__)
            for name in defaults.keys() & others.keys() - {'update_statistics'}:
                assert defaults[name] == others[name], (function, node, name)
                compared += 1
    assert compared > 80


@pytest.mark.parametrize(
    'call',
    [
        lambda b: F.linear(X, X, b),
        lambda b: F.simplified_dropconnect(X, X, b),
        lambda b: F.convolution_2d(IMAGE, W, b),
        lambda b: F.deconvolution_2d(IMAGE, W.swapaxes(0, 1), b),
        lambda b: F.dilated_convolution_2d(IMAGE, W, b),
        lambda b: F.convolution_nd(IMAGE, W, b),
        lambda b: F.deconvolution_nd(IMAGE, W.swapaxes(0, 1), b),
        lambda b: F.depthwise_convolution_2d(IMAGE, W, b),
    ],
)
@pytest.mark.parametrize('b', [np.zeros(7, 'f'), np.zeros((2, 2), 'f'), np.zeros(2, 'i')])
def test_messages_name_the_bias(call, b):
    with pytest.raises(type_check.InvalidType, match=r'\bb\.(shape|ndim|dtype)'):
        call(b)


@pytest.mark.parametrize(
    ('name', 'call', 'given'),
    [
        ('repeats', lambda: F.repeat(X, [1, 2], 0), '[1, 2]'),
        ('repeats', lambda: F.repeat(X, (1, 'a'), 0), "(1, 'a')"),
        ('reps', lambda: F.tile(X, [2, 1]), '[2, 1]'),
        ('axis', lambda: F.squeeze(X, [0]), '[0]'),
        ('source', lambda: F.moveaxis(X, [0, 1], (1, 0)), '[0, 1]'),
    ],
)
def test_messages_say_that_tuples_are_taken(name, call, given):
    message = f'{name} must be an int or a tuple of ints, not {given}'
    with pytest.raises(TypeError, match=f'^{re.escape(message)}$'):
        call()
