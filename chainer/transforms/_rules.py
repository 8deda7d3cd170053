"""How functions compute all samples of :func:`chainer.vmap` at once.

A rule gets a function node before its call, operands with ``variable``, ``is_mapped`` and the
``shape`` and ``ndim`` that the function sees, and the number of samples. It returns the outputs
with the samples along the first axis, or ``None`` where a loop over the samples has to compute
them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer.functions._base import BinaryFunction, UnaryFunction
from chainer.transforms import _products as products, _shapes as shapes
from chainer.transforms._kinds import (
    alike,
    along,
    by_rows,
    elementwise,
    flat_or_along,
    over_all_or_along,
)

if TYPE_CHECKING:
    from chainer._core.autograd.base_function import BaseFunction
    from chainer.transforms._kinds import Outputs, Rule


def _unless(rule: Rule, *names: str) -> Rule:
    """Rule of functions without the arrays that attributes may hold for one sample."""

    def limited(func: Any, operands: Any, size: int) -> Outputs:
        if any(getattr(func, name, None) is not None for name in names):
            return None
        return rule(func, operands, size)

    return limited


# By the modules and classes of `chainer.functions`, which are imported at their first use. Classes
# that derive from these may compute something else, and have no rule.
_TABLE: dict[Any, str] = {
    elementwise: 'math.linear_interpolate.LinearInterpolate array.cast.Cast array.copy.Copy',
    alike: 'loss._difference.DifferenceFunction loss.squared_error.SquaredError '
    'loss.absolute_error.AbsoluteError math.basic_math.MultiAdd noise.zoneout.Zoneout '
    'math.identity.Identity math.fft.FFT',
    _unless(alike, 'eps'): 'noise.gaussian.Gaussian',
    _unless(elementwise, 'mask'): 'noise.dropout.Dropout',
    _unless(elementwise, 'r'): 'activation.rrelu.RReLU',
    along('axis'): 'activation.softmax.Softmax activation.log_softmax.LogSoftmax '
    'activation.crelu.CReLU array.concat.Concat array.stack.Stack array.split_axis.SplitAxis '
    'array.separate.Separate array.flip.Flip array.expand_dims.ExpandDims math.diff.Diff '
    'array.permutate.Permutate normalization.l2_normalization.NormalizeL2',
    along('axis1', 'axis2'): 'array.swapaxes.Swapaxes array.diagonal.Diagonal',
    along('source', 'destination'): 'array.moveaxis.Moveaxis',
    along('axis', 'start'): 'array.rollaxis.Rollaxis',
    over_all_or_along: 'math.sum.Sum math.average.Mean math.minmax.Max math.minmax.Min '
    'math.prod.Prod math.logsumexp.LogSumExp',
    flat_or_along: 'math.cumsum.Cumsum array.repeat.Repeat math.minmax.ArgMax math.minmax.ArgMin',
    by_rows(): 'array.select_item.SelectItem array.depth2space.Depth2Space '
    'array.space2depth.Space2Depth array.im2col.Im2Col array.resize_images.ResizeImages '
    'array.spatial_transformer_grid.SpatialTransformerGrid '
    'array.spatial_transformer_sampler.SpatialTransformerSampler connection.shift.Shift '
    'math.det.BatchDet math.inv.BatchInv math.matmul.BatchMatMul rnn.lstm.LSTM rnn.slstm.SLSTM '
    'rnn.tree_lstm.TreeLSTM math.batch_l2_norm_squared.BatchL2NormSquared '
    'pooling.max_pooling_nd.MaxPoolingND '
    'pooling.average_pooling_2d.AveragePooling2D pooling.average_pooling_nd.AveragePoolingND '
    'pooling.unpooling_2d.Unpooling2D pooling.unpooling_nd.UnpoolingND '
    'normalization.local_response_normalization.LocalResponseNormalization',
    by_rows(1): 'activation.prelu.PReLUFunction activation.swish.Swish '
    'connection.local_convolution_2d.LocalConvolution2DFunction',
    by_rows(2): 'connection.bilinear.BilinearFunction',
    shapes.reshape: 'array.reshape.Reshape',
    shapes.transpose: 'array.transpose.Transpose',
    shapes.broadcast_to: 'array.broadcast.BroadcastTo',
    shapes.broadcast: 'array.broadcast.Broadcast',
    shapes.sum_to: 'math.sum.SumTo',
    shapes.squeeze: 'array.squeeze.Squeeze',
    shapes.flip_up_down: 'array.flipud.FlipUD',
    shapes.flip_left_right: 'array.fliplr.FlipLR',
    shapes.where: 'array.where.Where',
    shapes.stacking: 'array.hstack.Hstack array.vstack.Vstack array.dstack.Dstack',
    shapes.tile: 'array.tile.Tile',
    shapes.pad: 'array.pad.Pad',
    shapes.get_item: 'array.get_item.GetItem',
    products.matmul: 'math.matmul.MatMul',
    products.linear: 'connection.linear.LinearFunction',
    products.convolution: 'connection.convolution_2d.Convolution2DFunction '
    'connection.deconvolution_2d.Deconvolution2DFunction '
    'connection.convolution_nd.ConvolutionND connection.deconvolution_nd.DeconvolutionND',
    products.normalization(-1): 'normalization.layer_normalization.LayerNormalization '
    'normalization.rms_normalization.RMSNormalization',
    products.normalization(2): 'normalization.group_normalization.GroupNormalization',
    products.einsum: 'math.einsum.EinSum',
    products.embed_id: 'connection.embed_id.EmbedIDFunction',
    products.inv: 'math.inv.Inv',
    products.mean_squared_error: 'loss.mean_squared_error.MeanSquaredError',
    products.mean_absolute_error: 'loss.mean_absolute_error.MeanAbsoluteError',
    products.accuracy: 'evaluation.accuracy.Accuracy',
    products.softmax_cross_entropy: 'loss.softmax_cross_entropy.SoftmaxCrossEntropy',
}
RULES: dict[str, Rule] = {
    f'chainer.functions.{name}': rule for rule, names in _TABLE.items() for name in names.split()
}


@functools.cache
def _rule_of_class(cls: type) -> Rule | None:
    rule = RULES.get(f'{cls.__module__}.{cls.__qualname__}')
    if rule is None and cls.__module__.startswith('chainer.functions.'):
        is_unary = issubclass(cls, UnaryFunction) and cls.is_elementwise
        return elementwise if is_unary or issubclass(cls, BinaryFunction) else None
    return rule


def rule_of(func: BaseFunction) -> Rule | None:
    """Rule of a function, or ``None`` if it has none."""
    cls: Any = type(func)
    return _rule_of_class(cls)
