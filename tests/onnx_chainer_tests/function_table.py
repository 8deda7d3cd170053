"""Functions and what they are called with: the table of the tests of the export."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
import chainer.functions as F
from chainer.utils import CooMatrix


@dataclasses.dataclass
class Row:
    """A function of ``chainer.functions``, and a call of it."""

    name: str
    call: Callable[..., Any]
    args: tuple[Any, ...]
    since: int = 9
    train: bool = False
    rtol: float = 1e-5
    #: Newest opset for which onnxruntime has the operator.
    until: int = 26


ROWS: list[Row] = []


def row(name, *args, call=None, since=9, train=False, rtol=1e-5, until=26, **kwargs):
    """Adds a call of a function with arrays; ``call`` for other arguments."""
    function = call or (lambda *xs: getattr(F, name)(*xs, **kwargs))
    ROWS.append(Row(name, function, args, since, train, rtol, until))


def array(*shape, low=-2.0, high=2.0, dtype=np.float32):
    """Different numbers from ``low`` to ``high``, in an order that looks random."""
    n = int(np.prod(shape))
    values = np.linspace(low, high, n) if n > 1 else np.array([(low + 2 * high) / 3])
    order = np.random.RandomState(n).permutation(n)
    return values[order].reshape(shape).astype(dtype)


def ints(*shape, n=3, dtype=np.int32):
    return (np.arange(int(np.prod(shape))) * 7 % 5 % n).reshape(shape).astype(dtype)


X = array(2, 3, 4)
M = array(4, 3)
IMAGE = array(2, 3, 6, 5)
POSITIVE = array(2, 3, low=0.2, high=4.0)
PART = array(2, 3, low=-0.9, high=0.9)

# -- activation ------------------------------------------------------------------------------

for name in (
    *('clipped_relu', 'crelu', 'elu', 'gelu', 'hard_sigmoid', 'leaky_relu', 'log_softmax', 'mish'),
    *('relu', 'relu6', 'rrelu', 'selu', 'sigmoid', 'silu', 'softmax', 'softplus', 'tanh'),
):
    row(name, X * 3)
row('clipped_relu', X, z=0.5)
row('crelu', X, axis=-1)
row('elu', X, alpha=0.3)
row('gelu', X, approximate=True)
row('leaky_relu', X, slope=0.1)
row('log_softmax', X, axis=-1)
row('maxout', array(2, 6, 2), pool_size=3)
row('prelu', X, array(3))
row('prelu', X, array(3, 4))
row('rrelu', X, r=array(2, 3, 4, low=0.1, high=0.3), train=True)
row('selu', X, alpha=1.5, scale=1.1)
row('softmax', X, axis=0)
row('softmax', X, axis=2)
row('softplus', X, beta=2.0)
row('swish', X, array(3))
row('swish', X, array(3, 4))

# -- array -----------------------------------------------------------------------------------

row('as_strided', array(12), call=lambda x: F.as_strided(x, (3, 4), (2, 1), 1))
row('broadcast', array(2, 1, 4), array(3, 1))
row('broadcast_to', array(3, 1), shape=(2, 3, 4))
row('cast', X, typ=np.float64)
row('cast', X, typ=np.float16)
row('concat', X, X, call=lambda x, y: F.concat((x, y)))
row('concat', X, X, call=lambda x, y: F.concat((x, y), axis=-1))
row('copy', X, dst=-1)
row('depth2space', array(2, 8, 2, 3), r=2)
row('diagonal', array(3, 4, 2))
row('diagonal', array(3, 4, 5), offset=1, axis1=1, axis2=2)
row('diagonal', array(3, 4, 5), offset=-2, axis1=2, axis2=0)
for name in 'dstack', 'hstack', 'vstack':
    for shape in (3,), (2, 3), (2, 3, 4):
        row(
            name,
            array(*shape),
            array(*shape),
            call=lambda x, y, name=name: getattr(F, name)((x, y)),
        )
row('expand_dims', X, axis=1)
row('expand_dims', X, axis=-1)
row('flatten', X)
row('flip', X, axis=1)
row('flip', X, axis=-1)
row('fliplr', X)
row('flipud', X)
for index in (
    *(
        0,
        -1,
        slice(1),
        slice(-2, None),
        (slice(None), 1),
        (Ellipsis, 2),
        (1, Ellipsis, slice(1, 3)),
    ),
    *((None, 1), (0, None, slice(2)), (slice(None), None, 2), (0, 1, -2), Ellipsis),
    *([1, 0], (slice(None), [0, -1])),
    *((slice(None), np.array([[0, 2], [1, 1]])), np.array([True, False])),
    np.array([1, 0, 1]),
):
    row('get_item', X, slices=index)
for index in (
    *((slice(None), [0, 2], [1, -1]), ([0, 1], [2, 0]), ([0, 1], slice(None), [2, 3])),
    *(
        (slice(1), [[0, 2]], [[1], [-1]]),
        ([0, 1], [2, 0], slice(1, 3)),
        np.arange(6).reshape(2, 3) > 2,
    ),
):
    row('get_item', X, slices=index, since=11)
row('get_item', X, slices=(slice(None, None, 2), slice(None, None, -1)), since=10)
row('get_item', X, slices=(slice(None), slice(-1, 0, -2)), since=10)
row('get_item', X, ints(4, n=2), call=lambda x, i: F.get_item(x, i))
row(
    *('get_item', X, ints(4, n=2)),
    call=lambda x, i: F.get_item(x, (i, slice(None), i)),
    since=11,
)
row('im2col', IMAGE, ksize=3)
row('im2col', IMAGE, ksize=(2, 3), stride=2, pad=1, cover_all=True)
row('im2col', IMAGE, ksize=2, dilate=2)
row('moveaxis', X, source=0, destination=2)
row('moveaxis', X, source=(0, 1), destination=(-1, 0))
row('pad', X, pad_width=((0, 1), (2, 0), (1, 1)), mode='constant')
row('pad', X, pad_width=1, mode='constant', constant_values=3)
row('pad', X, pad_width=1, mode='reflect')
row('pad', X, pad_width=(1, 2), mode='edge')
row('pad', X, pad_width=1, mode='wrap', since=19)
row('pad_sequence', array(3, 2), array(1, 2), call=lambda *xs: F.pad_sequence(xs))
row('pad_sequence', array(3), array(1), call=lambda *xs: F.pad_sequence(xs, length=4, padding=-1))
row('permutate', X, indices=np.array([2, 0, 1]), axis=1)
row('permutate', X, indices=np.array([2, 0, 1]), axis=1, inv=True)
row('permutate', X, np.array([1, 0]), call=lambda x, i: F.permutate(x, i.array))
for inverse in False, True:
    row(
        *('permutate', X, np.array([2, 0, 1], 'i')),
        call=lambda x, i, inverse=inverse: F.permutate(x, i, axis=1, inv=inverse),
    )
row('repeat', X, repeats=2)
row('repeat', X, repeats=2, axis=1)
row('repeat', X, repeats=(1, 0, 2), axis=1)
row('reshape', X, shape=(4, 6))
row('reshape', X, shape=(2, -1))
row('resize_images', IMAGE, output_shape=(8, 7))
row('resize_images', IMAGE, output_shape=(4, 9), align_corners=False)
row('resize_images', IMAGE, output_shape=(9, 3), mode='nearest')
row('rollaxis', X, axis=2)
row('rollaxis', X, axis=0, start=2)
row('scatter_add', X, array(3, 4), call=lambda a, b: F.scatter_add(a, 1, b), since=13)
row(
    *('scatter_add', X, array(2, 2, 4)),
    call=lambda a, b: F.scatter_add(a, (slice(None), [0, 0]), b),
    since=13,
)
row('select_item', M, ints(4))
row('separate', X, axis=1)
row('space2depth', array(2, 3, 4, 6), r=2)
row('spatial_transformer_grid', array(2, 2, 3), output_shape=(3, 4))
row('spatial_transformer_sampler', IMAGE, array(2, 2, 4, 3, low=-1.2, high=1.2), since=16)
row(
    'spatial_transformer_sampler',
    *(array(1, 2, 3, 4, 3), array(1, 3, 2, 2, 2, low=-1.2, high=1.2)),
    since=20,
)
row('split_axis', X, indices_or_sections=2, axis=0)
row('split_axis', X, indices_or_sections=[1, 2], axis=1)
row('squeeze', array(2, 1, 3, 1))
row('squeeze', array(2, 1, 3, 1), axis=1)
row('squeeze', array(2, 1, 3, 1), axis=(-1, 1))
row('stack', X, X, call=lambda x, y: F.stack((x, y)))
row('stack', X, X, call=lambda x, y: F.stack((x, y), axis=-1))
row('swapaxes', X, axis1=0, axis2=2)
row('tile', X, reps=2)
row('tile', X, reps=(2, 1, 1, 3))
row('transpose', X)
row('transpose', X, axes=(1, 0, 2))
row('transpose', X, axes=(-1, 0, 1))
row('transpose_sequence', array(3, 2), array(3, 2), call=lambda *xs: F.transpose_sequence(xs))
row('transpose_sequence', array(3, 2), array(1, 2), call=lambda *xs: F.transpose_sequence(xs))
row('where', X > 0, X, X * 2)
row('where', X, X * 2, call=lambda x, y: F.where(np.arange(4) > 1, x, y))

# -- connection ------------------------------------------------------------------------------

row('bilinear', array(2, 3), array(2, 4), array(3, 4, 2))
row('bilinear', array(2, 3), array(2, 4), array(3, 4, 2), array(3, 2), array(4, 2), array(2))
for options in {}, {'stride': 2, 'pad': 1}, {'stride': 2, 'cover_all': True}, {'dilate': 2}:
    row('convolution_2d', IMAGE, array(4, 3, 3, 2), array(4), **options)
row('convolution_2d', IMAGE, array(6, 1, 3, 3), groups=3)
row('convolution_1d', X, array(2, 3, 2), array(2), pad=1)
row('convolution_3d', array(1, 2, 3, 4, 3), array(2, 2, 2, 2, 2), stride=(1, 2, 1))
row('convolution_nd', IMAGE, array(4, 3, 3, 2), array(4), stride=2, cover_all=True)
for options in {}, {'stride': 2, 'pad': 1}, {'stride': 3, 'outsize': (18, 14)}, {'dilate': 2}:
    row('deconvolution_2d', IMAGE, array(3, 4, 3, 2), array(4), **options)
row('deconvolution_2d', IMAGE, array(3, 2, 3, 3), groups=3)
row('deconvolution_1d', X, array(3, 2, 2), array(2), stride=2)
row('deconvolution_3d', array(1, 2, 3, 4, 3), array(2, 2, 2, 2, 2))
row('deconvolution_nd', IMAGE, array(3, 4, 3, 3), stride=2, pad=1, outsize=(12, 9))
row(
    'deformable_convolution_2d_sampler',
    *(IMAGE, array(2, 8, 5, 4, low=-0.4, high=0.4), array(4, 3, 2, 2), array(4)),
    since=16,
    rtol=1e-4,
)
row(
    'deformable_convolution_2d_sampler',
    *(IMAGE, array(2, 8, 4, 3, low=-0.4, high=0.4), array(4, 3, 2, 2)),
    since=16,
    rtol=1e-4,
    stride=2,
    pad=1,
)
row('depthwise_convolution_2d', IMAGE, array(2, 3, 3, 3), array(6), pad=1)
row('dilated_convolution_2d', IMAGE, array(4, 3, 2, 2), array(4), dilate=2)
row('embed_id', ints(2, 3), array(4, 2))
row('embed_id', np.array([1, -1, 2]), array(4, 2), ignore_label=-1)
row('linear', array(2, 3), array(4, 3), array(4))
row('linear', array(2, 3), array(4, 3))
row('linear', X, array(5, 4), array(5), n_batch_axes=2)
row('local_convolution_2d', array(2, 3, 4, 5), array(2, 3, 4, 3, 2, 2), array(2, 3, 4))
row('local_convolution_2d', array(2, 3, 5, 5), array(2, 2, 2, 3, 2, 2), stride=3)
for shapes in ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 2)), ((3, 4), (5, 4), (5, 2)):
    q, k, v = [array(*shape) for shape in shapes]
    row('scaled_dot_product_attention', q, k, v)
    row('scaled_dot_product_attention', q, k, v, is_causal=True)
    row('scaled_dot_product_attention', q, k, v, array(3, 5))
    row('scaled_dot_product_attention', q, k, v, np.tri(3, 5, -1, bool), scale=0.3)
row('shift', array(2, 9, 5, 4))
row('shift', array(2, 7, 5, 4), ksize=(1, 3), dilate=(1, 2))

# -- evaluation ------------------------------------------------------------------------------

row('accuracy', M, ints(4))
row('accuracy', array(2, 3, 4), ints(2, 4, n=4) - 1, ignore_label=-1)
row('binary_accuracy', M, ints(4, 3) - 1)
for name in 'classification_summary', 'f1_score', 'precision', 'recall':
    row(name, array(8, 3), ints(8), label_num=3)
row('classification_summary', array(8, 3), ints(8, n=4) - 1, label_num=3, beta=2.0)
row('fbeta_score', array(8, 3), ints(8), label_num=3, beta=0.5)
row('r2_score', M, array(4, 3, low=-1.0))
row('r2_score', M, array(4, 3, low=-1.0), multioutput='raw_values')

# -- loss ------------------------------------------------------------------------------------

for name in (
    *('absolute_error', 'mean_absolute_error', 'mean_squared_error', 'squared_difference'),
    *('squared_error', 'bernoulli_nll', 'gaussian_kl_divergence'),
):
    row(name, M, array(4, 3, low=-1.0))
row('bernoulli_nll', M, array(4, 3, low=-1.0), reduce='no')
row('gaussian_nll', M, array(4, 3, low=-1.0), array(4, 3, high=1.0), rtol=1e-4)
row('black_out', array(4, 2), ints(4), array(5, 2), ints(4, 3, n=5))
for reduce in 'mean', 'no':
    row('contrastive', M, array(4, 3, low=-1.0), np.array([1, 0, 0, 1], 'i'), reduce=reduce)
    row('triplet', M, array(4, 3, low=-1.0), array(4, 3, high=1.0), reduce=reduce)
    row('hinge', M, ints(4), reduce=reduce)
    row('hinge', M, ints(4), norm='L2', reduce=reduce)
    row('sigmoid_cross_entropy', M, ints(4, 3) - 1, reduce=reduce)
    row('softmax_cross_entropy', M, ints(4), reduce=reduce)
    row('softmax_cross_entropy', M, ints(4, n=4) - 1, reduce=reduce, class_weight=array(3, low=0.1))
    row('softmax_cross_entropy', M, array(4, 3, low=0.0, high=1.0), reduce=reduce)
row(
    'crf1d',
    array(3, 3),
    *[array(2, 3)] * 3,
    *[ints(2)] * 3,
    call=lambda c, *v: F.crf1d(c, v[:3], v[3:]),
)
row(
    'crf1d',
    *(array(3, 3), *[array(2, 3)] * 3, *[ints(2)] * 3),
    call=lambda c, *v: F.crf1d(c, v[:3], v[3:], 'no'),
)
row('cross_covariance', M, array(4, 2))
row('cross_covariance', M, array(4, 2), reduce='no')
row('decov', M)
row('decov', M, reduce='no')
row('huber_loss', M, array(4, 3, low=-1.0), delta=0.7)
row('huber_loss', M, array(4, 3, low=-1.0), delta=0.7, reduce='no')
row('sigmoid_cross_entropy', M, ints(4, 3) - 1, normalize=False)
row('softmax_cross_entropy', array(2, 3, 4), ints(2, 4))
row('softmax_cross_entropy', M, ints(4, n=4) - 1, normalize=False)
row('softmax_cross_entropy', M, np.full(4, -1, 'i'))
row(
    'softmax_cross_entropy',
    *(M, array(4, 3, low=0.0, high=1.0)),
    soft_target_loss='kl-divergence',
    class_weight=array(3, low=0.1),
)

# -- math ------------------------------------------------------------------------------------

for name in (
    *('absolute', 'ceil', 'cos', 'cosh', 'erf', 'erfc', 'exp', 'expm1', 'fix', 'floor', 'sign'),
    *('sin', 'sinh', 'square', 'tan', 'ndtr', 'identity', 'arctan'),
):
    row(name, X * 0.7)
for name in 'arccos', 'arcsin', 'arctanh', 'erfinv', 'log1p', 'expm1':
    row(name, PART)
for name in 'log', 'log2', 'log10', 'rsqrt', 'sqrt', 'lgamma', 'digamma', 'log1p':
    row(name, POSITIVE)
row('log_ndtr', array(12, low=-12.0, high=4.0))
row('erfcx', array(12, low=-2.0, high=20.0))
row('ndtri', array(7, low=0.001, high=0.999))
row('erfcinv', array(7, low=0.001, high=1.999))
row('expm1', array(5, low=-1e-3, high=1e-3))
row('log1p', array(5, low=-1e-4, high=1e-4))
row('add', X, X)
row('add', X, array(3, 1))
row('add', X, X, X)
for text in (
    *('x + 2', '2 + x', 'x - 2', '2 - x', 'x * 2', 'x / 2', '2 / x', 'x ** 2', '2 ** x', '-x'),
    *('abs(x) ** 1.5', 'x // 2', '3 // x', 'x + A', 'A - x', 'x * A', 'A / x', 'x @ x.T'),
):
    row(
        *('add', array(3, 2, low=0.5)),
        call=lambda x, text=text: eval(text, {'x': x, 'A': array(3, 2)}),
    )
for text in 'x + y', 'x - y', 'x * y', 'x / y', 'abs(x) ** y', 'x // y':
    row(
        *('add', array(3, 2), array(3, 1, low=0.5)),
        call=lambda x, y, text=text: eval(text, {'x': x, 'y': y}),
    )
for name in 'average', 'mean', 'sum', 'prod', 'max', 'min', 'argmax', 'argmin', 'logsumexp':
    row(name, X)
    row(name, X, axis=1)
for name in 'average', 'sum', 'prod', 'max', 'min':
    row(name, X, axis=(0, -1), keepdims=True)
row('average', X, array(3, low=0.1), call=lambda x, w: F.average(x, 1, w))
row('arctan2', X, array(2, 3, 4)[::-1].copy())
row('arctan2', np.array([0, 0, 1, -1], 'f'), np.array([0, 1, 0, 0], 'f'))
row('batch_l2_norm_squared', X)
row('bias', X, array(3))
row('scale', X, array(3))
SQUARE = array(2, 3, 3) + 3 * np.eye(3, dtype='f')
row('batch_det', SQUARE, since=11)
row('det', SQUARE[0], since=11)
row('batch_inv', SQUARE, since=11)
row('inv', SQUARE[0], since=11)
row('cholesky', SQUARE[0] @ SQUARE[0].T, call=lambda a: F.cholesky(a))
row('clip', X, x_min=-1.0, x_max=0.5)
row('clip', X, x_min=None, x_max=0.5)
for name in 'cumsum', 'cumprod':
    row(name, X)
    row(name, X, axis=1)
row('diff', X)
row('diff', X, n=2, axis=1)
row('einsum', M, M, call=lambda x, y: F.einsum('ij,kj->ik', x, y), since=12)
row('einsum', X, X, call=lambda x, y: F.einsum('...ij,...ij->...i', x, y), since=12)
for name in 'fft', 'ifft':
    row(name, M, M, call=lambda x, y, name=name: getattr(F, name)((x, y)), since=17)
row('fmod', X * 3, array(2, 3, 4, low=0.5)[::-1].copy(), rtol=1e-4)
row('linear_interpolate', PART, PART * 2, PART - 1)
row('batch_matmul', array(2, 3, 4), array(2, 4, 2))
row('batch_matmul', array(2, 3), array(2, 3, 2), transa=True)
row('matmul', array(3, 4), array(4, 2))
row('matmul', array(2, 4, 3), array(2, 5, 4), transa=True, transb=True)
row('matmul', array(3), array(3))
row('maximum', M, array(4, 3, low=-1.0))
row('minimum', M, array(4, 3, low=-1.0))
row(
    *('sparse_matmul', array(3), array(4, 2)),
    call=lambda d, x: F.sparse_matmul(
        CooMatrix(d.array, np.array([0, 1, 1], 'i'), np.array([1, 0, 3], 'i'), (2, 4)), x
    ),
)
row(
    *('sparse_matmul', array(3), array(2, 2)),
    call=lambda d, x: F.sparse_matmul(
        x, CooMatrix(d.array, np.array([0, 1, 1], 'i'), np.array([1, 0, 3], 'i'), (2, 4))
    ),
)
row('sum_to', X, shape=(3, 1))
row('tensordot', array(2, 3, 4), array(3, 4, 2))
row('tensordot', array(2, 3, 4), array(4, 2, 5), axes=([2, 0], [0, 1]))

# -- noise -----------------------------------------------------------------------------------

row('dropout', X, call=lambda x: F.dropout(x) + 0)
row('simplified_dropconnect', array(2, 3), array(4, 3), array(4), train=False, ratio=0.0)
row('zoneout', M, array(4, 3, low=-1.0), call=lambda h, x: F.zoneout(h, x) + 0)

# -- normalization ---------------------------------------------------------------------------

for train in False, True:
    row('batch_normalization', IMAGE, array(3), array(3), train=train)
row('batch_normalization', array(4, 3), array(3), array(3), train=True)
row('batch_normalization', IMAGE, array(6, 5), array(6, 5), axis=(0, 1), train=True)
STATISTICS = array(3), array(3), array(3), array(3, low=0.5)
row('fixed_batch_normalization', IMAGE, *STATISTICS)
row('fixed_batch_normalization', IMAGE, *[array(3, 6, 5, low=0.5)] * 4)
row('fixed_batch_normalization', array(2, 4, 3), *STATISTICS, axis=(0, 1))
row('fixed_batch_renormalization', IMAGE, *STATISTICS)
row(
    'fixed_decorrelated_batch_normalization',
    *(array(2, 4, 3), array(2, 2), array(2, 2, 2)),
    groups=2,
)
row(
    'group_normalization',
    array(2, 4, 3),
    array(4),
    array(4),
    call=lambda x, g, b: F.group_normalization(x, 2, g, b),
)
row('layer_normalization', M, array(3), array(3))
row('local_response_normalization', array(2, 8, 3, 3), n=3)
row('local_response_normalization', array(2, 8, 3, 3))
row('normalize', X)
row('normalize', X, axis=(1, 2))
row('rms_normalization', M, array(3))

# -- pooling ---------------------------------------------------------------------------------

for name in 'average_pooling_2d', 'max_pooling_2d':
    row(name, IMAGE, ksize=2)
    row(name, IMAGE, ksize=3, stride=2, pad=1)
    row(name, IMAGE, ksize=(6, 5))
row('average_pooling_1d', X, ksize=2, stride=1)
row('average_pooling_3d', array(1, 2, 4, 4, 4), ksize=2)
row('average_pooling_nd', IMAGE, ksize=3, pad=1, pad_value=None)
row('max_pooling_1d', X, ksize=3, stride=2, pad=1)
row('max_pooling_2d', IMAGE, ksize=2, stride=3, cover_all=False)
row('max_pooling_2d', IMAGE, ksize=2, stride=3, pad=1)
row('max_pooling_3d', array(1, 2, 4, 4, 4), ksize=3, stride=2)
row('max_pooling_nd', IMAGE, ksize=(3, 2))
ROIS = np.array([[0, 0, 4, 3], [1, 1, 5, 4], [0.5, 1.5, 3.5, 2.5]], 'f')
row(
    'roi_average_align_2d',
    IMAGE,
    ROIS,
    np.array([0, 1, 1], 'i'),
    outsize=2,
    spatial_scale=1.0,
    sampling_ratio=2,
    since=10,
    until=21,
)
row(
    'roi_average_align_2d',
    IMAGE,
    ROIS,
    np.array([0, 1, 1], 'i'),
    outsize=2,
    spatial_scale=0.5,
    since=10,
    until=21,
)
row(
    'roi_pooling_2d',
    IMAGE,
    np.array([[0, 0, 0, 3, 4], [1, 1, 1, 4, 5]], 'f'),
    outh=2,
    outw=2,
    spatial_scale=1.0,
    until=21,
)
row('spatial_pyramid_pooling_2d', array(2, 3, 6, 6), pyramid_height=2, pooling='max')
row('unpooling_1d', X, ksize=2)
row('unpooling_2d', IMAGE, ksize=2)
row('unpooling_2d', IMAGE, ksize=2, outsize=(12, 10))
row('unpooling_2d', IMAGE, ksize=3, stride=2, pad=1)
row('unpooling_3d', array(1, 2, 2, 2, 2), ksize=2)
row('unpooling_nd', IMAGE, ksize=(2, 3), cover_all=False)
row(
    'upsampling_2d',
    *(array(1, 2, 2, 2),),
    indexes=np.array([[[[0, 1], [2, 3]], [[3, 2], [1, 0]]]]),
    ksize=2,
    outsize=(4, 4),
    since=11,
)

# -- rnn -------------------------------------------------------------------------------------

row('lstm', array(2, 3), array(2, 12))
row('lstm', array(3, 2), array(2, 8))
row('slstm', array(2, 3), array(2, 3), array(2, 12), array(2, 12))
row('tree_lstm', array(2, 3), array(2, 3), array(2, 15))


def _network(name, n_weights, directions, n_states, **options):
    function = getattr(F, name)
    for layers, lengths in (1, (3, 3, 3)), (2, (3, 2, 1)):
        n_cells = layers * directions
        shapes = [(4, 2 if j < n_weights // 2 else 4) for j in range(n_weights)]
        deep = [(4, 4 * directions if j < n_weights // 2 else 4) for j in range(n_weights)]
        ws = [
            [array(*s, low=-0.5, high=0.5) for s in (shapes if i < directions else deep)]
            for i in range(n_cells)
        ]
        bs = [[array(4, low=-0.2, high=0.3) for _ in range(n_weights)] for _ in range(n_cells)]

        def call(*xs, layers=layers, ws=ws, bs=bs):
            states, xs = xs[:n_states], xs[n_states:]
            *last, ys = function(layers, 0.0, *states, ws, bs, xs, **options)
            return [*last, *ys]

        states = [array(n_cells, 3, 4)] * n_states
        row(name, *states, *[array(n, 2) for n in lengths], call=call)


for prefix, directions in ('', 1), ('bi', 2):
    _network(f'n_step_{prefix}lstm', 8, directions, 2)
    _network(f'n_step_{prefix}gru', 6, directions, 1)
    _network(f'n_step_{prefix}rnn', 2, directions, 1)
    _network(f'n_step_{prefix}rnn', 2, directions, 1, activation='relu')
row('forget', X, call=lambda x: F.forget(lambda y: F.relu(y) * 2, x))


def run(row):
    """Calls the function of a row; returns its outputs as arrays."""
    with chainer.using_config('train', row.train), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        y = row.call(*[chainer.Variable(a.copy()) for a in row.args])
    ys = y if isinstance(y, (tuple, list)) else (y,)
    return [getattr(y, 'array', y) for y in ys]
