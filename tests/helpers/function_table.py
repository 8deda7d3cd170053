"""The table of functions: one row for each public function, with its calls and a bad one.

The sweeps over all functions run it: test_every_function.py and test_chainerx.py.
"""
import dataclasses
import typing

import numpy as np

import chainer
import chainerx
from chainer import functions as F
from chainer.utils import type_check
from tests.helpers.devices import CHX

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
        calls: Calls with other arguments, which ChainerX has to compute natively as NumPy does, and
            CuPy, too: a function of variables, and its inputs. Integer arrays get no gradient.
        random: Such calls that draw at random, so that values are not compared.
        falls_back: Such calls of a native function that fall back from ChainerX.
        noisy: Whether it draws noise on the device, where a seed gives other numbers.
        checks: Options of :func:`helpers.functions.check_function`.

    """

    f: typing.Callable
    inputs: list
    bad: typing.Callable | None = None
    error: type = InvalidType
    params: tuple = ()
    calls: typing.Sequence = ()
    random: typing.Sequence = ()
    falls_back: typing.Sequence = ()
    noisy: bool = False
    checks: dict = dataclasses.field(default_factory=dict)


def draw(*shape, low=-1., high=1., seed=0):
    """Random float64 array whose elements keep a distance from each other and from zero."""
    n = int(np.prod(shape))
    values = np.linspace(low, high, n + 2)[1:-1] if n else np.empty(0)
    values = values + (abs(values) < 0.02) * 0.05
    return np.random.RandomState(seed).permutation(values).reshape(shape)


def ints(*values):
    return np.array(values, np.int32)


def _float32(x, array):
    """Sends a float32 constant to the device of ``x``."""
    return chainer.backend.get_device_from_array(chainer.as_array(x)).send(array.astype('f'))


def _on(x, array):
    """Sends a constant to the device of ``x``; a floating point one takes its dtype."""
    array = np.asarray(array)
    if array.dtype.kind == 'f':
        array = array.astype(x.dtype)
    return chainer.backend.get_device_from_array(chainer.as_array(x)).send(array)


ROWS: dict[str, Row] = {}


def _row(name, f, inputs, bad=None, error=InvalidType, params=(), calls=(), random=(), falls_back=(), noisy=False, **checks):
    inputs = [np.asarray(x) for x in inputs]
    if bad is None:
        # Most functions take floating point numbers only.
        wrong = [x.astype('i') if x.dtype.kind == 'f' else x.astype('f') for x in inputs]

        def bad():
            return f(*wrong)
    assert name not in ROWS, f'{name} has two rows'
    ROWS[name] = Row(f, inputs, bad, error, params, calls, random, falls_back, noisy, checks)


def positive(*shape):
    return draw(*shape, low=.2, high=.9)


X, Y = draw(2, 3), draw(2, 3, seed=1)
IMAGE = draw(2, 4, 4, 4)
T = ints(2, 0)

# -- elementwise --------------------------------------------------------------------------
for _name in ('clipped_relu', 'elu', 'hard_sigmoid', 'leaky_relu', 'mish', 'relu', 'relu6',
              'selu', 'sigmoid', 'silu', 'softplus', 'tanh', 'arctan', 'arcsin', 'arccos',
              'arctanh', 'cos', 'cosh', 'sin', 'sinh', 'tan', 'erf', 'erfc', 'erfcx', 'exp',
              'expm1', 'log_ndtr', 'ndtr', 'square'):
    _row(_name, getattr(F, _name), [X * 0.8])
for _name in ('erfcinv', 'ndtri'):
    _row(_name, getattr(F, _name), [draw(2, 3, low=0.2, high=0.8)])
_row('erfinv', F.erfinv, [X * 0.8])
_row('gelu', F.gelu, [X * 0.8], calls=[(lambda x: F.gelu(x, approximate=True), X)])
for _name in ('digamma', 'lgamma', 'log', 'log10', 'log1p', 'log2', 'rsqrt', 'sqrt'):
    _row(_name, getattr(F, _name), [draw(2, 3, low=0.5, high=2.5)])
_row('absolute', F.absolute, [X], lambda: F.absolute([1.]), TypeError,
     calls=[(lambda x: abs(x), X)])
for _name in ('ceil', 'fix'):
    _row(_name, getattr(F, _name), [X * 3], lambda f=getattr(F, _name): f([1.]), AttributeError,
         grad=False)
_row('sign', F.sign, [X * 3], lambda: F.sign(None), TypeError, grad=False)
_row('floor', F.floor, [X * 3], lambda: F.floor([1.]), AttributeError, grad=False, calls=[(lambda x: x // .3, X)])
_row('polygamma', lambda x: F.polygamma(1, x), [draw(2, 3, low=0.5, high=2.5)],
     calls=[(F.polygamma, ints(1, 2, 0), positive(3)), (lambda x: F.polygamma(2, x), positive(3))])
_row('zeta', lambda q: F.zeta(3., q), [draw(2, 3, low=1, high=3)])
_row('clip', lambda x: F.clip(x, -0.55, 0.55), [X],
     calls=[(lambda x: F.clip(x, None, .5), X)])
_row('cast', lambda x: F.cast(x, x.dtype), [X], lambda: F.cast([1.], 'f'), AttributeError)
_row('identity', F.identity, [X], lambda: F.identity([1.]), TypeError)
_row('prelu', F.prelu, [X, draw(3)])
_row('swish', F.swish, [X, draw(3)])
_row('rrelu', lambda x: F.rrelu(x, r=_on(x, abs(Y))), [X],
     calls=[(lambda x: F.rrelu(x, r=_on(x, np.full((2, 3), .2))), X)], random=[(F.rrelu, X)])
_row('arctan2', F.arctan2, [X, abs(Y) + 0.6])
for _name in ('fmod', 'maximum', 'minimum'):
    _row(_name, getattr(F, _name), [X, abs(Y) + 0.6],
         lambda f=getattr(F, _name): f(X.astype('f'), X.astype('d')))
_row('add', F.add, [X, Y], lambda: F.add(X, X[:, :2]),
     calls=[(F.add, X, positive(3)), (lambda x: x + 1, X), (F.add, X, X, positive(2, 3))])
_row('linear_interpolate', F.linear_interpolate, [abs(X), Y, draw(2, 3, seed=2)])
_row('bias', F.bias, [X, draw(3)], lambda: F.bias(X, X[0, :2]))
_row('scale', F.scale, [X, draw(3)], lambda: F.scale(X, X[0, :2]))
_row('squared_error', F.squared_error, [X, Y])
_row('squared_difference', F.squared_difference, [X, Y])
_row('absolute_error', F.absolute_error, [X, Y])

# -- along an axis ------------------------------------------------------------------------
def _along(name, *calls, **options):
    f = getattr(F, name)
    _row(name, lambda x: f(x, axis=1), [X], calls=calls, **options)


_along('average', (F.average, X), (lambda x, w: F.average(x, 1, w), X, positive(3)))
_along('max', (F.max, X), (lambda x: F.max(x, axis=1, keepdims=True), X))
_along('mean', (F.mean, X), (lambda x: F.mean(x, axis=(0, 1), keepdims=True), X))
_along('min', (F.min, X), (lambda x: F.min(x, axis=0), X))
_along('prod', (F.prod, X))
_along('sum', (F.sum, X), (lambda x: F.sum(x, axis=1, keepdims=True), X))
_along('logsumexp', (F.logsumexp, X))
_along('cumsum', (F.cumsum, X))
_along('diff', (lambda x: F.diff(x, 2, 0), X), (F.diff, X))
_along('cumprod', (F.cumprod, X), falls_back=[(F.cumprod, np.array([.5, 0., 2.]))])
_along('softmax')
_along('log_softmax')
_along('crelu')
_along('normalize', (lambda x: F.normalize(x, axis=(1, 2)), draw(2, 3, 4)))
_along('argmax', (F.argmax, X), grad=False)
_along('argmin', (F.argmin, X), grad=False)
_row('maxout', lambda x: F.maxout(x, 2), [draw(2, 4)], lambda: F.maxout(X, 2))
_row('sum_to', lambda x: F.sum_to(x, (1, 3)), [X], lambda: F.sum_to([1.], (1,)), AttributeError)

# -- shapes -------------------------------------------------------------------------------
_row('as_strided', lambda x: F.as_strided(chainer.as_variable(x) + 0, (3, 2), (1, 2)), [X],
     lambda: F.as_strided(X, (9,), (1,)), ValueError,
     falls_back=[(lambda x: F.as_strided(x[1:], (2,), (1,)), X)])
_row('broadcast', lambda *xs: F.broadcast(*xs), [X, draw(3)], lambda: F.broadcast(X, X[:, :2]))
_row('broadcast_to', lambda x: F.broadcast_to(x, (2, 2, 3)), [X],
     lambda: F.broadcast_to(X, (2, 4)))
_row('concat', lambda *xs: F.concat(xs), [X, Y], lambda: F.concat([X, X[:1]]))
_row('copy', lambda x: F.copy(x, chainer.as_variable(x).device), [X],
     lambda: F.copy(X, 'nowhere:0'), Exception,
     calls=[(lambda x: F.copy(F.copy(x, CHX[0] if x.xp is chainerx else '@numpy'), x.device), X)])
_row('depth2space', lambda x: F.depth2space(x, 2), [IMAGE])
_row('space2depth', lambda x: F.space2depth(x, 2), [IMAGE])
_row('diagonal', F.diagonal, [X], lambda: F.diagonal(X[0]),
     calls=[(F.diagonal, draw(3, 4)), (lambda x: F.diagonal(x, 1, 0, 2), draw(3, 2, 4)), (lambda x: F.diagonal(x, -1, -1, -2), draw(2, 3, 4))])
_row('dstack', lambda *xs: F.dstack(xs), [X, Y], lambda: F.dstack([X, draw(3, 4)]))
_row('hstack', lambda *xs: F.hstack(xs), [X, Y], lambda: F.hstack([X, draw(3, 4)]),
     calls=[(lambda *xs: F.hstack(xs), X, positive(2, 2)), (lambda *xs: F.hstack(xs), draw(3), positive(2))])
_row('vstack', lambda *xs: F.vstack(xs), [X, Y], lambda: F.vstack([X, draw(3, 4)]),
     calls=[(lambda *xs: F.vstack(xs), X, positive(1, 3)), (lambda *xs: F.vstack(xs), draw(3), positive(3))])
_row('stack', lambda *xs: F.stack(xs), [X, Y], lambda: F.stack([X, X[:1]]))
_row('expand_dims', lambda x: F.expand_dims(x, 1), [X], lambda: F.expand_dims(X, 3))
_row('flatten', F.flatten, [X], lambda: F.flatten([1.]), AttributeError)
_row('flip', lambda x: F.flip(x, 1), [X], lambda: F.flip(X, 2))
_row('fliplr', F.fliplr, [X])
_row('flipud', F.flipud, [X])
_row('get_item', lambda x: F.get_item(x, (slice(None), [2, 0, 0])), [X],
     lambda: F.get_item(X, (0, 0, 0)), IndexError,
     calls=[
         (lambda x: x[0], X), (lambda x: x[:, ::-1], X), (lambda x: x[[1, 0]], X),
         (lambda x: F.get_item(x, (ints(0, 1, 1), ints(2, 2, 0))), X),
         (lambda x: x[np.array([True, False])], X), (lambda x: x[:, None, ints(2, 0)], X),
         (lambda x: x[np.array([[True, False, True], [False, True, True]])], X),
         (lambda x: x[1, ints(0, 2)], X), (lambda x: x[..., ints(-1)], X)],
     falls_back=[(lambda x: x[True], X), (lambda x: x[False], X)])
_row('im2col', lambda x: F.im2col(x, 3, pad=1), [IMAGE],
     calls=[(lambda x: F.im2col(x, 2, 2, cover_all=True), draw(1, 2, 5, 5))])
_row('moveaxis', lambda x: F.moveaxis(x, 0, 2), [draw(2, 3, 2)], lambda: F.moveaxis(X, 0, 2))
_row('pad', lambda x: F.pad(x, 1, 'constant'), [X],
     calls=[(lambda x: F.pad(x, ((1, 2), (0, 1)), 'constant'), X), (lambda x: F.pad(x, 1, 'constant', constant_values=2.), X)],
     falls_back=[(lambda x: F.pad(x.array, 1, 'mean'), X)])
_row('pad_sequence', lambda *xs: F.pad_sequence(xs), [X, X[:1]],
     lambda: F.pad_sequence([X, X[0]]))
_row('permutate', lambda x: F.permutate(x, ints(2, 0, 1), 1), [X],
     lambda: F.permutate(X, ints(1, 0), 1),
     calls=[(F.permutate, draw(3, 2), ints(2, 0, 1)), (lambda x, k: F.permutate(x, k, axis=1, inv=True), X, ints(2, 0, 1))])
_row('repeat', lambda x: F.repeat(x, 2, 1), [X], lambda: F.repeat(X, 2, 2),
     calls=[(lambda x: F.repeat(x, (1, 2), 0), X)])
_row('reshape', lambda x: F.reshape(x, (3, -1)), [X], lambda: F.reshape(X, (4, 2)))
_row('resize_images', lambda x: F.resize_images(x, (3, 5)), [IMAGE],
     calls=[(lambda x: F.resize_images(x, (3, 6)), IMAGE), (lambda x: F.resize_images(x, (3, 6), align_corners=False), IMAGE),
            (lambda x: F.resize_images(x, (3, 6), mode='nearest', align_corners=False), IMAGE)])
_row('rollaxis', lambda x: F.rollaxis(x, 2), [draw(2, 3, 2)], lambda: F.rollaxis(X, 2))
_row('scatter_add', lambda a, b: F.scatter_add(a, [0, 1, 1], b), [X, draw(3, 3)],
     lambda: F.scatter_add(X, (0, 0, 0), X),
     calls=[(lambda a, b: F.scatter_add(a, 1, b), X, draw(3)), (lambda a, b: F.scatter_add(a, (slice(None), ints(0, 0)), b), X, draw(2, 2))])
_row('select_item', F.select_item, [X, ints(2, 0)])
_row('separate', F.separate, [X], lambda: F.separate(X, 2))
_row('spatial_transformer_grid', lambda x: F.spatial_transformer_grid(x, (3, 2)), [draw(2, 2, 3)])
_row('spatial_transformer_sampler', F.spatial_transformer_sampler,
     [IMAGE, draw(2, 2, 3, 3, low=-0.9, high=0.9)], tolerances={np.float16: 2e-2})
_row('split_axis', lambda x: F.split_axis(x, [1], 1), [X], lambda: F.split_axis(X, 2, 1),
     calls=[(lambda x: F.split_axis(x, 3, 1), X)])
_row('squeeze', lambda x: F.squeeze(x, 1), [draw(2, 1, 3)], lambda: F.squeeze(X, 2))
_row('swapaxes', lambda x: F.swapaxes(x, 0, 1), [X], lambda: F.swapaxes(X, 0, 2), ValueError)
_row('tile', lambda x: F.tile(x, (2, 1)), [X], lambda: F.tile(X, -1), ValueError)
_row('transpose', F.transpose, [X], lambda: F.transpose(X, (0, 2)), ValueError,
     calls=[(lambda x: F.transpose(x, (1, 0, 2)), draw(2, 3, 4))])
_row('transpose_sequence', lambda *xs: F.transpose_sequence(xs), [X, X[:1]],
     lambda: F.transpose_sequence([X[:1], X]),
     calls=[(lambda *xs: F.transpose_sequence(xs), draw(0, 2), draw(0, 2))])
_row('where', lambda x, y: F.where(_on(x, X > 0), x, y), [X, Y],
     lambda: F.where(X > 0, X, Y.astype('f')))

# -- products -----------------------------------------------------------------------------
SQUARE = draw(3, 3) + np.eye(3) * 3
_row('matmul', F.matmul, [X, draw(3, 4)], lambda: F.matmul(X, X),
     calls=[(F.matmul, draw(3), positive(3)), (lambda a, b: F.matmul(a, b, transa=True), draw(2, 3, 4), draw(2, 3, 2))])
_row('batch_matmul', F.batch_matmul, [draw(2, 3, 2), draw(2, 2, 4)])
_row('tensordot', lambda a, b: F.tensordot(a, b, 1), [X, draw(3, 4)],
     falls_back=[(lambda a: F.tensordot(a, _float32(a, draw(3, 4)), 1), X)])
_row('einsum', lambda a, b: F.einsum('ij,jk->ik', a, b), [X, draw(3, 4)],
     falls_back=[(lambda a: F.einsum('ij,jk->ik', a, _float32(a, draw(3, 4))), X)])
_row('inv', F.inv, [SQUARE],
     falls_back=[(F.inv, np.eye(2, dtype='e'))])
_row('batch_inv', F.batch_inv, [np.stack([SQUARE, SQUARE.T])])
_row('det', F.det, [SQUARE],
     falls_back=[(F.det, np.eye(2, dtype='e'))])
_row('batch_det', F.batch_det, [np.stack([SQUARE, SQUARE.T])])
_row('cholesky', lambda a: F.cholesky(F.matmul(a, a, transb=True)), [SQUARE],
     lambda: F.cholesky(X[0]), tolerances={np.float16: 5e-2},
     falls_back=[(F.cholesky, np.eye(2, dtype='e'))])
_row('fft', lambda r, i: F.fft((r, i)), [X, Y])
_row('ifft', lambda r, i: F.ifft((r, i)), [X, Y])


def _sparse_matmul(data, b, transa=False):
    row, column = [np.broadcast_to(a, data.shape) for a in (ints(0, 1, 1), ints(2, 0, -1))]
    a = chainer.utils.CooMatrix(chainer.as_array(data), _on(data, row), _on(data, column), (2, 3))
    a.data = chainer.as_variable(data)
    return F.sparse_matmul(a, b, transa=transa)


_row('sparse_matmul', _sparse_matmul, [draw(3), SQUARE],
     calls=[(_sparse_matmul, draw(3), draw(3, 2)), (_sparse_matmul, X, draw(2, 3, 2)), (lambda a, b: _sparse_matmul(a, b, True), draw(3), draw(2, 2))])
_row('batch_l2_norm_squared', F.batch_l2_norm_squared, [X])
_row('linear', F.linear, [X, draw(2, 3), draw(2)],
     calls=[(lambda x, W: F.linear(x, W, n_batch_axes=2), draw(2, 2, 3), draw(4, 3))])
_row('bilinear', F.bilinear, [X, draw(2, 2), draw(3, 2, 2)], tolerances={np.float16: 2e-2},
     calls=[(F.bilinear, X, positive(2, 4), draw(3, 4, 5)), (F.bilinear, X, positive(2, 4), draw(3, 4, 5), draw(3, 5), draw(4, 5), draw(5))])
_row('embed_id', F.embed_id, [ints(1, 0, 1), X], params=(1,),
     calls=[(lambda x, W: F.embed_id(x, W, 0), ints(1, 0), draw(4, 3))])
_row('scaled_dot_product_attention', F.scaled_dot_product_attention,
     [draw(2, 3, 2), draw(2, 3, 2, seed=1), draw(2, 3, 2, seed=2)])

# -- convolution --------------------------------------------------------------------------
def _convolution(n, **options):
    _row(f'convolution_{n}d', getattr(F, f'convolution_{n}d'), [draw(2, 2, *(3,) * n), draw(3, 2, *(2,) * n), draw(3)], **options)


def _deconvolution(n):
    _row(f'deconvolution_{n}d', getattr(F, f'deconvolution_{n}d'), [draw(2, 2, *(2,) * n), draw(2, 3, *(2,) * n), draw(3)])


_convolution(1)
_convolution(2, calls=[
    (F.convolution_2d, IMAGE, draw(3, 4, 3, 3), draw(3)),
    (lambda x, W: F.convolution_2d(x, W, stride=2, pad=1, groups=2), IMAGE, draw(4, 2, 3, 3)),
    (lambda x, W: F.convolution_2d(x, W, dilate=2, pad=2), IMAGE, draw(3, 4, 3, 3))])
_convolution(3)
_deconvolution(1)
_deconvolution(2)
_deconvolution(3)
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
_row('shift', F.shift, [draw(1, 9, 3, 3)],
     calls=[(F.shift, draw(1, 9, 4, 4)), (lambda x: F.shift(x, 3, 2), draw(1, 10, 5, 5))])

# -- pooling ------------------------------------------------------------------------------
def _pooling(name, x, **options):
    f = getattr(F, name)
    _row(name, lambda x: f(x, 2), [x], **options)


for _kind in ('average_pooling', 'max_pooling', 'unpooling'):
    _pooling(f'{_kind}_1d', draw(2, 2, 4))
    _pooling(f'{_kind}_3d', draw(2, 2, 4, 4, 4))
_pooling('average_pooling_2d', IMAGE)
_pooling('max_pooling_2d', IMAGE)
_pooling('unpooling_2d', IMAGE, calls=[(lambda x: F.unpooling_2d(x, 3, 2, 1, cover_all=False), IMAGE)])
_pooling('average_pooling_nd', IMAGE)
_pooling('max_pooling_nd', IMAGE, falls_back=[(lambda x: F.max_pooling_nd(x, 2, return_indices=True)[0], IMAGE)])
_pooling('unpooling_nd', IMAGE)
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
_row('batch_normalization', F.batch_normalization, [_BATCH, _GAMMA, _BETA], params=(1, 2), **_loose,
     falls_back=[(lambda *xs: F.batch_normalization(*xs, running_mean=np.zeros(3), running_var=np.ones(3)), _BATCH, _GAMMA, _BETA)])
_row('batch_renormalization', lambda x, gamma, beta: F.batch_renormalization(
    x, gamma, beta, 2., 1., running_mean=_on(gamma, np.zeros(3)),
    running_var=_on(gamma, np.ones(3))), [_BATCH, _GAMMA, _BETA], params=(1, 2), grad=False,
    **_loose,
     falls_back=[(lambda *xs: F.batch_renormalization(*xs, 2., 1., running_mean=np.zeros(3), running_var=np.ones(3)), _BATCH, _GAMMA, _BETA)])
for _name in ('fixed_batch_normalization', 'fixed_batch_renormalization'):
    _row(_name, getattr(F, _name), [_BATCH, _GAMMA, _BETA, draw(3, seed=1), _GAMMA],
         params=(1, 2, 3, 4))
_EVEN_SPREAD = np.array([[1., 0], [-1, 0], [0, 1], [0, -1]])  # a covariance of equal eigenvalues
_row('decorrelated_batch_normalization', lambda x: F.decorrelated_batch_normalization(
    x, groups=2), [draw(6, 4)],
    calls=[(lambda x: F.decorrelated_batch_normalization(x, groups=1), _EVEN_SPREAD)], **_loose,
     falls_back=[(lambda x: F.decorrelated_batch_normalization(
         x, groups=1, running_mean=np.zeros((1, 2))), _EVEN_SPREAD)])
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
_row('gaussian', lambda m, v: F.gaussian(m, v, eps=_on(m, draw(2, 3, seed=2))), [X, Y],
     random=[(F.gaussian, X, X)])
_row('gumbel_softmax', _seeded(F.gumbel_softmax), [X], lambda: F.gumbel_softmax(X.astype('i')),
     noisy=True, dtypes='d', grad_tolerance=1e-3)
_row('simplified_dropconnect', lambda x, W: F.simplified_dropconnect(
    x, W, mask=_on(x, _MASK[None].repeat(2, 0) > 0)), [X, draw(2, 3)], params=(1,),
     calls=[
         (lambda x, W: F.simplified_dropconnect(x, W, mask=np.ones((2, 4, 3), bool)), X, draw(4, 3)),
         (lambda x, W: F.simplified_dropconnect(x, W, mask=np.eye(4, 3, dtype=bool), use_batchwise_mask=False), X, draw(4, 3))],
     random=[(F.simplified_dropconnect, X, draw(4, 3), draw(4))])
_row('zoneout', _seeded(F.zoneout), [X, Y], noisy=True)

# -- recurrent cells ----------------------------------------------------------------------
_row('lstm', F.lstm, [X, draw(2, 12)],
     calls=[(F.lstm, draw(3, 3), draw(2, 12))])
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
PAIR = draw(2, 3, seed=2)
_row('softmax_cross_entropy', F.softmax_cross_entropy, [X, T],
     calls=[
         (lambda x, t: F.softmax_cross_entropy(x, t, normalize=False, reduce='no'), X, ints(-1, 2)),
         (lambda x, t: F.softmax_cross_entropy(x, t, ignore_label=None), X, T),
         (F.softmax_cross_entropy, draw(2, 3, 4), ints([0, -1, 2, 1], [2, 2, 0, 1])),
         (lambda x, t: F.softmax_cross_entropy(x, t, reduce='no', enable_double_backprop=True), draw(2, 3, 1, 2), ints([[0, 1]], [[2, -1]])),
         (lambda x, t: F.softmax_cross_entropy(x, t, class_weight=np.array([1, 2, 3], x.dtype), enable_double_backprop=True), X, T),
         (lambda x, t: F.softmax_cross_entropy(x, t, enable_double_backprop=True), X, positive(2, 3)),
         (lambda x, t: F.softmax_cross_entropy(x, t, class_weight=np.array([1, 2, 3], x.dtype), soft_target_loss='kl-divergence',
                                               reduce='no', enable_double_backprop=True), X, positive(2, 3))],
     falls_back=[(F.softmax_cross_entropy, X[:0], T[:0])])
_row('sigmoid_cross_entropy', F.sigmoid_cross_entropy, [X, ints([0, 1, 1], [-1, 0, 1])],
     calls=[(lambda x, t: F.sigmoid_cross_entropy(x, t, normalize=False, reduce='no'), X, ints([1, 0, -1], [0, 0, 1]))])
_row('hinge', F.hinge, [X, T],
     calls=[(lambda x, t: F.hinge(x, t, 'L2', 'no'), X, T)])
_row('huber_loss', lambda x, t: F.huber_loss(x, t, 0.5), [X, Y],
     calls=[(lambda x, t: F.huber_loss(x, t, .4, 'no'), X, positive(2, 3))])
_row('mean_squared_error', F.mean_squared_error, [X, Y])
_row('mean_absolute_error', F.mean_absolute_error, [X, Y])
_row('contrastive', F.contrastive, [X, Y, ints(0, 1)], grad_tolerance=1e-4)
_row('triplet', F.triplet, [X, Y, PAIR],
     calls=[(lambda a, b, c: F.triplet(a, b, c, reduce='no'), X, positive(2, 3), PAIR)])
_row('cross_covariance', F.cross_covariance, [X, draw(2, 2)],
     calls=[(F.cross_covariance, draw(4, 2), positive(4, 3)), (lambda y, z: F.cross_covariance(y, z, 'no'), draw(4, 2), positive(4, 3))])
_row('decov', F.decov, [X],
     calls=[(lambda h: F.decov(h, 'no'), draw(4, 3))])
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
_row('accuracy', F.accuracy, [X, T], grad=False,
     calls=[(lambda y, t: F.accuracy(y, t, 0), X, T)])
_row('binary_accuracy', F.binary_accuracy, [X, ints([0, 1, 1], [-1, 0, 1])], grad=False)
_row('r2_score', F.r2_score, [X, Y], grad=False, tolerances={np.float16: 0.1},
     calls=[(F.r2_score, draw(4, 3), positive(4, 3)), (lambda y, t: F.r2_score(y, t, multioutput='raw_values'), draw(4, 3), positive(4, 3))])
_SCORES = np.eye(3)[[2, 0, 1, 1]] + draw(4, 3) / 4
for _name in ('classification_summary', 'f1_score', 'fbeta_score', 'precision', 'recall'):
    _row(_name, getattr(F, _name), [_SCORES, ints(2, 0, 1, 0)], grad=False, result_dtype='d')

# -- others -------------------------------------------------------------------------------
_row('forget', lambda x, y: F.forget(lambda x, y: F.exp(x) * y, x, y), [X, Y],
      lambda: F.forget(lambda x: (F.exp(x), 1), X), RuntimeError, double=False)
