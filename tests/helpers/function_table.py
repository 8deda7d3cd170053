"""Every public function with inputs to run it on: the table behind sweeps over all functions."""
import dataclasses
import typing

import numpy as np

import chainer
from chainer import functions as F
from chainer.utils import type_check

InvalidType = type_check.InvalidType


@dataclasses.dataclass
class Row:
    """A function with arguments that suit it.

    Attributes:
        f: Function of the inputs alone; other arguments are bound.
        inputs: Arrays; floating point ones are cast to the dtype under test.
        bad: Call that must fail, without arguments.
        error: What ``bad`` must raise.
        params: Indexes of the inputs that are parameters of links: float32 in ``mixed16``.
        checks: Options of :func:`helpers.functions.check_function`.

    """

    f: typing.Callable
    inputs: list
    bad: typing.Callable | None = None
    error: type = InvalidType
    params: tuple = ()
    checks: dict = dataclasses.field(default_factory=dict)


def draw(*shape, low=-1., high=1., seed=0):
    """Random float64 array whose elements keep a distance from each other and from zero."""
    n = int(np.prod(shape))
    values = np.linspace(low, high, n + 2)[1:-1] if n else np.empty(0)
    values = values + (abs(values) < 0.02) * 0.05
    return np.random.RandomState(seed).permutation(values).reshape(shape)


def ints(*values):
    return np.array(values, np.int32)


def _on(x, array):
    """Sends a constant to the device of ``x``; a floating point one takes its dtype."""
    array = np.asarray(array)
    if array.dtype.kind == 'f':
        array = array.astype(x.dtype)
    return chainer.backend.get_device_from_array(chainer.as_array(x)).send(array)


# name -> Row, or a list of rows
ROWS: dict = {}


def _row(name, f, inputs, bad=None, error=InvalidType, params=(), **checks):
    inputs = [np.asarray(x) for x in inputs]
    if bad is None:
        # Most functions take floating point numbers only.
        wrong = [x.astype('i') if x.dtype.kind == 'f' else x.astype('f') for x in inputs]

        def bad():
            return f(*wrong)
    ROWS[name] = Row(f, inputs, bad, error, params, checks)


_f = np.float32
X, Y = draw(2, 3), draw(2, 3, seed=1)
IMAGE = draw(2, 4, 4, 4)

# -- elementwise --------------------------------------------------------------------------
for _name in ('clipped_relu', 'elu', 'gelu', 'hard_sigmoid', 'leaky_relu', 'mish', 'relu', 'relu6',
              'selu', 'sigmoid', 'silu', 'softplus', 'tanh', 'arctan', 'arcsin', 'arccos',
              'arctanh', 'cos', 'cosh', 'sin', 'sinh', 'tan', 'erf', 'erfc', 'erfcx', 'exp',
              'expm1', 'log_ndtr', 'ndtr', 'square'):
    _row(_name, getattr(F, _name), [X * 0.8])
for _name in ('erfcinv', 'ndtri'):
    _row(_name, getattr(F, _name), [draw(2, 3, low=0.2, high=0.8)])
_row('erfinv', F.erfinv, [X * 0.8])
for _name in ('digamma', 'lgamma', 'log', 'log10', 'log1p', 'log2', 'rsqrt', 'sqrt'):
    _row(_name, getattr(F, _name), [draw(2, 3, low=0.5, high=2.5)])
_row('absolute', F.absolute, [X], lambda: F.absolute([1.]), TypeError)
for _name in ('ceil', 'floor', 'fix', 'sign'):
    _row(_name, getattr(F, _name), [X * 3], lambda f=getattr(F, _name): f([1.]), AttributeError,
         grad=False)
_row('polygamma', lambda x: F.polygamma(1, x), [draw(2, 3, low=0.5, high=2.5)])
_row('zeta', lambda q: F.zeta(3., q), [draw(2, 3, low=1, high=3)])
_row('clip', lambda x: F.clip(x, -0.55, 0.55), [X])
_row('cast', lambda x: F.cast(x, x.dtype), [X], lambda: F.cast([1.], 'f'), AttributeError)
_row('identity', F.identity, [X], lambda: F.identity([1.]), TypeError)
_row('prelu', F.prelu, [X, draw(3)])
_row('swish', F.swish, [X, draw(3)])
_row('rrelu', lambda x: F.rrelu(x, r=_on(x, abs(Y))), [X])
for _name in ('arctan2', 'fmod', 'maximum', 'minimum'):
    _row(_name, getattr(F, _name), [X, abs(Y) + 0.6],
         lambda f=getattr(F, _name): f(X.astype('f'), X.astype('d')))
_row('add', F.add, [X, Y], lambda: F.add(X, X[:, :2]))
_row('linear_interpolate', F.linear_interpolate, [abs(X), Y, draw(2, 3, seed=2)])
_row('bias', F.bias, [X, draw(3)], lambda: F.bias(X, X[0, :2]))
_row('scale', F.scale, [X, draw(3)], lambda: F.scale(X, X[0, :2]))
_row('squared_error', F.squared_error, [X, Y])
_row('squared_difference', F.squared_difference, [X, Y])
_row('absolute_error', F.absolute_error, [X, Y])

# -- along an axis ------------------------------------------------------------------------
for _name in ('average', 'max', 'mean', 'min', 'prod', 'sum', 'logsumexp', 'cumsum', 'cumprod',
              'softmax', 'log_softmax', 'crelu', 'normalize'):
    _row(_name, lambda x, f=getattr(F, _name): f(x, axis=1), [X])
for _name in ('argmax', 'argmin'):
    _row(_name, lambda x, f=getattr(F, _name): f(x, axis=1), [X], grad=False)
_row('maxout', lambda x: F.maxout(x, 2), [draw(2, 4)], lambda: F.maxout(X, 2))
_row('sum_to', lambda x: F.sum_to(x, (1, 3)), [X], lambda: F.sum_to([1.], (1,)), AttributeError)

# -- shapes -------------------------------------------------------------------------------
_row('as_strided', lambda x: F.as_strided(x + 0, (3, 2), (1, 2)), [X],
     lambda: F.as_strided(X, (9,), (1,)), ValueError)
_row('broadcast', lambda *xs: F.broadcast(*xs), [X, draw(3)], lambda: F.broadcast(X, X[:, :2]))
_row('broadcast_to', lambda x: F.broadcast_to(x, (2, 2, 3)), [X],
     lambda: F.broadcast_to(X, (2, 4)))
_row('concat', lambda *xs: F.concat(xs), [X, Y], lambda: F.concat([X, X[:1]]))
_row('copy', lambda x: F.copy(x, chainer.as_variable(x).device), [X],
     lambda: F.copy(X, 'nowhere:0'), Exception)
_row('depth2space', lambda x: F.depth2space(x, 2), [IMAGE])
_row('space2depth', lambda x: F.space2depth(x, 2), [IMAGE])
_row('diagonal', F.diagonal, [X], lambda: F.diagonal(X[0]))
for _name in ('dstack', 'hstack', 'vstack'):
    _row(_name, lambda *xs, f=getattr(F, _name): f(xs), [X, Y],
         lambda f=getattr(F, _name): f([X, draw(3, 4)]))
_row('stack', lambda *xs: F.stack(xs), [X, Y], lambda: F.stack([X, X[:1]]))
_row('expand_dims', lambda x: F.expand_dims(x, 1), [X], lambda: F.expand_dims(X, 3))
_row('flatten', F.flatten, [X], lambda: F.flatten([1.]), AttributeError)
_row('flip', lambda x: F.flip(x, 1), [X], lambda: F.flip(X, 2))
_row('fliplr', F.fliplr, [X])
_row('flipud', F.flipud, [X])
_row('get_item', lambda x: F.get_item(x, (slice(None), [2, 0, 0])), [X],
     lambda: F.get_item(X, (0, 0, 0)), IndexError)
_row('im2col', lambda x: F.im2col(x, 3, pad=1), [IMAGE])
_row('moveaxis', lambda x: F.moveaxis(x, 0, 2), [draw(2, 3, 2)], lambda: F.moveaxis(X, 0, 2))
_row('pad', lambda x: F.pad(x, 1, 'constant'), [X])
_row('pad_sequence', lambda *xs: F.pad_sequence(xs), [X, X[:1]],
     lambda: F.pad_sequence([X, X[0]]))
_row('permutate', lambda x: F.permutate(x, ints(2, 0, 1), 1), [X],
     lambda: F.permutate(X, ints(1, 0), 1))
_row('repeat', lambda x: F.repeat(x, 2, 1), [X], lambda: F.repeat(X, 2, 2))
_row('reshape', lambda x: F.reshape(x, (3, -1)), [X], lambda: F.reshape(X, (4, 2)))
_row('resize_images', lambda x: F.resize_images(x, (3, 5)), [IMAGE])
_row('rollaxis', lambda x: F.rollaxis(x, 2), [draw(2, 3, 2)], lambda: F.rollaxis(X, 2))
_row('scatter_add', lambda a, b: F.scatter_add(a, [0, 1, 1], b), [X, draw(3, 3)],
     lambda: F.scatter_add(X, (0, 0, 0), X))
_row('select_item', F.select_item, [X, ints(2, 0)])
_row('separate', F.separate, [X], lambda: F.separate(X, 2))
_row('spatial_transformer_grid', lambda x: F.spatial_transformer_grid(x, (3, 2)), [draw(2, 2, 3)])
_row('spatial_transformer_sampler', F.spatial_transformer_sampler,
     [IMAGE, draw(2, 2, 3, 3, low=-0.9, high=0.9)], tolerances={np.float16: 2e-2})
_row('split_axis', lambda x: F.split_axis(x, [1], 1), [X], lambda: F.split_axis(X, 2, 1))
_row('squeeze', lambda x: F.squeeze(x, 1), [draw(2, 1, 3)], lambda: F.squeeze(X, 2))
_row('swapaxes', lambda x: F.swapaxes(x, 0, 1), [X], lambda: F.swapaxes(X, 0, 2), ValueError)
_row('tile', lambda x: F.tile(x, (2, 1)), [X], lambda: F.tile(X, -1), ValueError)
_row('transpose', F.transpose, [X], lambda: F.transpose(X, (0, 2)), ValueError)
_row('transpose_sequence', lambda *xs: F.transpose_sequence(xs), [X, X[:1]],
     lambda: F.transpose_sequence([X[:1], X]))
_row('where', lambda x, y: F.where(_on(x, X > 0), x, y), [X, Y],
     lambda: F.where(X > 0, X, Y.astype('f')))

# -- products -----------------------------------------------------------------------------
SQUARE = draw(3, 3) + np.eye(3) * 3
_row('matmul', F.matmul, [X, draw(3, 4)], lambda: F.matmul(X, X))
_row('batch_matmul', F.batch_matmul, [draw(2, 3, 2), draw(2, 2, 4)])
_row('tensordot', lambda a, b: F.tensordot(a, b, 1), [X, draw(3, 4)])
_row('einsum', lambda a, b: F.einsum('ij,jk->ik', a, b), [X, draw(3, 4)])
_row('inv', F.inv, [SQUARE])
_row('batch_inv', F.batch_inv, [np.stack([SQUARE, SQUARE.T])])
_row('det', F.det, [SQUARE])
_row('batch_det', F.batch_det, [np.stack([SQUARE, SQUARE.T])])
_row('cholesky', lambda a: F.cholesky(F.matmul(a, a, transb=True)), [SQUARE],
     lambda: F.cholesky(X), tolerances={np.float16: 5e-2})
_row('fft', lambda r, i: F.fft((r, i)), [X, Y])
_row('ifft', lambda r, i: F.ifft((r, i)), [X, Y])


def _sparse_matmul(data, b):
    a = chainer.utils.CooMatrix(chainer.as_array(data), _on(data, ints(0, 1, 1)),
                                _on(data, ints(2, 0, 1)), (2, 3))
    a.data = chainer.as_variable(data)
    return F.sparse_matmul(a, b)


_row('sparse_matmul', _sparse_matmul, [draw(3), SQUARE])
_row('batch_l2_norm_squared', F.batch_l2_norm_squared, [X])
_row('linear', F.linear, [X, draw(2, 3), draw(2)])
_row('bilinear', F.bilinear, [X, draw(2, 2), draw(3, 2, 2)], tolerances={np.float16: 2e-2})
_row('embed_id', F.embed_id, [ints(1, 0, 1), X], params=(1,))
_row('scaled_dot_product_attention', F.scaled_dot_product_attention,
     [draw(2, 3, 2), draw(2, 3, 2, seed=1), draw(2, 3, 2, seed=2)])

# -- convolution --------------------------------------------------------------------------
for _n in (1, 2, 3):
    _row(f'convolution_{_n}d', lambda x, W, b, f=getattr(F, f'convolution_{_n}d'): f(x, W, b),
         [draw(2, 2, *(3,) * _n), draw(3, 2, *(2,) * _n), draw(3)])
    _row(f'deconvolution_{_n}d', lambda x, W, b, f=getattr(F, f'deconvolution_{_n}d'): f(x, W, b),
         [draw(2, 2, *(2,) * _n), draw(2, 3, *(2,) * _n), draw(3)])
_row('convolution_nd', F.convolution_nd, [IMAGE, draw(2, 4, 2, 2)])
_row('deconvolution_nd', F.deconvolution_nd, [IMAGE, draw(4, 2, 2, 2)])
_row('depthwise_convolution_2d', F.depthwise_convolution_2d, [IMAGE, draw(2, 4, 2, 2)])
_row('dilated_convolution_2d', lambda x, W: F.dilated_convolution_2d(x, W, dilate=2),
     [IMAGE, draw(2, 4, 2, 2)])
_row('local_convolution_2d', F.local_convolution_2d,
     [draw(2, 2, 3, 3), draw(2, 2, 2, 2, 2, 2), draw(2, 2, 2)])
_row('deformable_convolution_2d_sampler', F.deformable_convolution_2d_sampler,
     [draw(2, 2, 4, 4), draw(2, 8, 3, 3, low=0.1, high=0.8), draw(2, 2, 2, 2)],
     tolerances={np.float16: 5e-2})
_row('shift', F.shift, [draw(1, 9, 3, 3)])

# -- pooling ------------------------------------------------------------------------------
for _n in (1, 2, 3):
    for _kind in ('average_pooling', 'max_pooling', 'unpooling'):
        _row(f'{_kind}_{_n}d', lambda x, f=getattr(F, f'{_kind}_{_n}d'): f(x, 2),
             [draw(2, 2, *(4,) * _n)])
for _kind in ('average_pooling', 'max_pooling', 'unpooling'):
    _row(f'{_kind}_nd', lambda x, f=getattr(F, f'{_kind}_nd'): f(x, 2), [IMAGE])
_row('spatial_pyramid_pooling_2d', lambda x: F.spatial_pyramid_pooling_2d(x, 2, 'max'), [IMAGE])
_row('upsampling_2d', lambda x: F.upsampling_2d(
    x, _on(x, ints(*range(4), *range(4)).reshape(1, 2, 2, 2)), 2), [draw(1, 2, 2, 2)])
_ROIS = np.array([[0, 0, 2, 3], [1, 0, 3, 3]], 'd')
for _kind in ('average_align', 'average_pooling', 'max_align', 'max_pooling'):
    _row(f'roi_{_kind}_2d', lambda x, f=getattr(F, f'roi_{_kind}_2d'): f(
        x, _on(x, _ROIS), _on(x, ints(0, 1)), 2, 1.), [IMAGE])
_row('roi_pooling_2d', lambda x: F.roi_pooling_2d(
    x, _on(x, np.hstack([[[0.], [1.]], _ROIS])), 2, 2, 1.), [IMAGE])

# -- normalization ------------------------------------------------------------------------
_BATCH, _GAMMA, _BETA = draw(5, 3), draw(3, low=0.5, high=1.5), draw(3)
_loose = {'tolerances': {np.float16: 2e-2}, 'grad_tolerance': 1e-4}
_row('batch_normalization', F.batch_normalization, [_BATCH, _GAMMA, _BETA], params=(1, 2), **_loose)
_row('batch_renormalization', lambda x, gamma, beta: F.batch_renormalization(
    x, gamma, beta, 2., 1., running_mean=_on(gamma, np.zeros(3)),
    running_var=_on(gamma, np.ones(3))), [_BATCH, _GAMMA, _BETA], params=(1, 2), grad=False,
    **_loose)
for _name in ('fixed_batch_normalization', 'fixed_batch_renormalization'):
    _row(_name, getattr(F, _name), [_BATCH, _GAMMA, _BETA, draw(3, seed=1), _GAMMA],
         params=(1, 2, 3, 4))
_row('decorrelated_batch_normalization', lambda x: F.decorrelated_batch_normalization(
    x, groups=2), [draw(6, 4)], **_loose)
_row('fixed_decorrelated_batch_normalization',
     lambda x, mean, p: F.fixed_decorrelated_batch_normalization(x, mean, p, groups=2),
     [draw(6, 4), draw(2, 2), draw(2, 2, 2)])
_row('group_normalization', lambda x, g, b: F.group_normalization(x, 2, g, b),
     [IMAGE, draw(4, low=0.5, high=1.5), draw(4)], params=(1, 2), **_loose)
_row('layer_normalization', F.layer_normalization, [_BATCH, _GAMMA, _BETA], params=(1, 2), **_loose)
_row('rms_normalization', F.rms_normalization, [_BATCH, _GAMMA], params=(1,), **_loose)
_row('local_response_normalization', F.local_response_normalization, [IMAGE])

# -- noise --------------------------------------------------------------------------------
_MASK = np.array([[0., 2, 2], [2, 0, 2]])


def _seeded(f):
    def call(*xs):
        np.random.seed(0)
        return f(*xs)
    return call


_row('dropout', lambda x: F.dropout(x, mask=_on(x, _MASK)), [X])
_row('gaussian', lambda m, v: F.gaussian(m, v, eps=_on(m, draw(2, 3, seed=2))), [X, Y])
_row('gumbel_softmax', _seeded(F.gumbel_softmax), [X], lambda: F.gumbel_softmax(X.astype('i')),
     dtypes='d', grad_tolerance=1e-3)
_row('simplified_dropconnect', lambda x, W: F.simplified_dropconnect(
    x, W, mask=_on(x, _MASK[None].repeat(2, 0) > 0)), [X, draw(2, 3)], params=(1,))
_row('zoneout', _seeded(F.zoneout), [X, Y])

# -- recurrent cells ----------------------------------------------------------------------
_row('lstm', F.lstm, [X, draw(2, 12)])
_row('slstm', F.slstm, [X, Y, draw(2, 12), draw(2, 12, seed=1)])
_row('tree_lstm', F.tree_lstm, [X, Y, draw(2, 15)])
for _kind, _n_states, _n_weights in (('rnn', 1, 2), ('gru', 1, 6), ('lstm', 2, 8)):
    for _bi in (1, 2):
        def _run(*args, f=getattr(F, f'n_step_{"bi" if _bi == 2 else ""}{_kind}'), bi=_bi,
                 s=_n_states, n=_n_weights):
            states, args = args[:s], args[s:]
            ws = [args[i * n:(i + 1) * n] for i in range(bi)]
            args = args[bi * n:]
            bs = [args[i * n:(i + 1) * n] for i in range(bi)]
            outputs = f(1, 0., *states, ws, bs, args[bi * n:])
            return (*outputs[:-1], *outputs[-1])
        _inputs = [draw(_bi, 2, 3, seed=i) for i in range(_n_states)]
        _inputs += [draw(3, 3, seed=i) for i in range(_bi * _n_weights)]
        _inputs += [draw(3, seed=i) for i in range(_bi * _n_weights)]
        _row(f'n_step_{"bi" if _bi == 2 else ""}{_kind}', _run, [*_inputs, X, Y[:1]],
             params=tuple(range(_n_states, _n_states + 2 * _bi * _n_weights)), **_loose)

# -- loss ---------------------------------------------------------------------------------
T, PAIR = ints(2, 0), draw(2, 3, seed=2)
_row('softmax_cross_entropy', F.softmax_cross_entropy, [X, T])
_row('sigmoid_cross_entropy', F.sigmoid_cross_entropy, [X, ints([0, 1, 1], [-1, 0, 1])])
_row('hinge', F.hinge, [X, T])
_row('huber_loss', lambda x, t: F.huber_loss(x, t, 0.5), [X, Y])
_row('mean_squared_error', F.mean_squared_error, [X, Y])
_row('mean_absolute_error', F.mean_absolute_error, [X, Y])
_row('contrastive', F.contrastive, [X, Y, ints(0, 1)], grad_tolerance=1e-4)
_row('triplet', F.triplet, [X, Y, PAIR])
_row('cross_covariance', F.cross_covariance, [X, draw(2, 2)])
_row('decov', F.decov, [X])
_row('bernoulli_nll', F.bernoulli_nll, [X, Y], lambda: F.bernoulli_nll(X, Y.astype('i')))
_row('gaussian_kl_divergence', F.gaussian_kl_divergence, [X, Y],
     lambda: F.gaussian_kl_divergence(X, Y.astype('i')))
_row('gaussian_nll', F.gaussian_nll, [X, Y, PAIR], lambda: F.gaussian_nll(X, Y, X.astype('i')),
     tolerances={np.float16: 2e-2})
_row('black_out', lambda x, W: F.black_out(
    x, _on(x, T), W, _on(x, ints([0, 1], [3, 1]))), [X, draw(4, 3)])
_row('negative_sampling', lambda x, W: F.negative_sampling(
    x, _on(x, T), W, lambda size: np.arange(np.prod(size), dtype='i').reshape(size) % 4, 2),
    [X, draw(4, 3)])
_row('connectionist_temporal_classification', lambda *xs: F.connectionist_temporal_classification(
    xs, _on(xs[0], ints([1], [2])), 0), [X, Y, PAIR], tolerances={np.float16: 2e-2})
_row('crf1d', lambda cost, *xs: F.crf1d(cost, xs, [_on(cost, T), _on(cost, T[:1])]),
     [draw(3, 3), X, Y[:1]], tolerances={np.float16: 2e-2})
_row('argmax_crf1d', lambda cost, *xs: F.argmax_crf1d(cost, xs)[0], [draw(3, 3), X, Y[:1]],
     lambda: F.argmax_crf1d(draw(2, 2), [X, X]), ValueError, grad=False)
_row('discriminative_margin_based_clustering_loss',
     lambda x: F.discriminative_margin_based_clustering_loss(
         x, _on(x, ints([[0, 1, 1, 2]] * 4, [[1, 2, 2, 0]] * 4)), 0.1, 1.5, 2),
     [IMAGE], lambda: F.discriminative_margin_based_clustering_loss(IMAGE, T, .5, 1.5, 2),
     ValueError, tolerances={np.float16: 2e-2})

# -- evaluation ---------------------------------------------------------------------------
_row('accuracy', F.accuracy, [X, T], grad=False)
_row('binary_accuracy', F.binary_accuracy, [X, ints([0, 1, 1], [-1, 0, 1])], grad=False)
_row('r2_score', F.r2_score, [X, Y], grad=False, tolerances={np.float16: 0.1})
_SCORES = np.eye(3)[[2, 0, 1, 1]] + draw(4, 3) / 4
for _name in ('classification_summary', 'f1_score', 'fbeta_score', 'precision', 'recall'):
    _row(_name, getattr(F, _name), [_SCORES, ints(2, 0, 1, 0)], grad=False, result_dtype='d')

# -- others -------------------------------------------------------------------------------
_row('forget', lambda x, y: F.forget(lambda x, y: F.exp(x) * y, x, y), [X, Y],
      lambda: F.forget(lambda x: (F.exp(x), 1), X), RuntimeError, double=False)
