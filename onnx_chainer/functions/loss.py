"""Converters of losses."""

from __future__ import annotations

import numpy

from onnx_chainer._builder import Unsupported
from onnx_chainer.functions._declare import converts, formulas


def _reduced(g, loss, how):
    return loss if how == 'no' else g.reduce('ReduceMean', loss)


@converts()
def convert_Contrastive(g, f, x0, x1, y):
    squared = g.reduce('ReduceSumSquare', g.Sub(x0, x1), [1])
    margin = g.Relu(g.Sub(f.margin, g.Sqrt(squared)))
    same = g.Equal(y, g.const(1, g.dtype(2)))
    return _reduced(g, g.Mul(g.Where(same, squared, g.square(margin)), 0.5), f.reduce)


@converts()
def convert_CrossCovariance(g, f, y, z):
    y, z = [g.Sub(x, g.reduce('ReduceMean', x, [0], True)) for x in (y, z)]
    return _half_sum_of_squares(g, f, _covariance(g, y, z))


def _covariance(g, y, z):
    return g.Div(g.MatMul(g.Transpose(y, perm=[1, 0]), z), g.shape()[0])


def _half_sum_of_squares(g, f, x):
    return x if f.reduce == 'no' else g.Mul(g.reduce('ReduceSumSquare', x), 0.5)


@converts()
def convert_DeCov(g, f, h):
    d = g.Sub(h, g.reduce('ReduceMean', h, [0], True))
    others = 1 - numpy.eye(int(g.shape()[1]), dtype=g.dtype())
    return _half_sum_of_squares(g, f, g.Mul(_covariance(g, d, d), others))


@converts()
def convert_Hinge(g, f, x, t):
    depth = g.const(int(g.shape()[1]), numpy.int64)
    signs = g.OneHot(g.cast(t, numpy.int64), depth, g.const([1, -1]), axis=-1)
    loss = g.Relu(g.Add(g.Mul(signs, x), 1))
    if f.norm == 'L2':
        loss = g.square(loss)
    return g.Div(g.reduce('ReduceSum', loss), g.shape()[0]) if f.reduce == 'mean' else loss


@converts()
def convert_HuberLoss(g, f, x, t):
    d = g.Sub(x, t)
    a = g.Abs(d)
    outer = g.Mul(g.Sub(a, 0.5 * f.delta), f.delta)
    y = g.Where(g.Less(a, f.delta), g.Mul(g.square(d), 0.5), outer)
    return g.reduce('ReduceSum', y, [1]) if f.reduce == 'sum_along_second_axis' else y


@converts()
def convert_Triplet(g, f, anchor, positive, negative):
    near, far = [g.reduce('ReduceSumSquare', g.Sub(anchor, x), [1]) for x in (positive, negative)]
    return _reduced(g, g.Relu(g.Add(g.Sub(near, far), f.margin)), f.reduce)


def _mask(g, f, t):
    """Whether labels count, as floating point numbers, and how many do, at least one."""
    mask = g.cast(g.counted(t, f.ignore_label), g.dtype())
    return mask, g.Max(g.reduce('ReduceSum', mask), 1)


@converts()
def convert_SigmoidCrossEntropy(g, f, x, t):
    mask, count = _mask(g, f, t)
    loss = g.Mul(mask, g.Sub(g.softplus(x), g.Mul(x, g.cast(t, g.dtype()))))
    if f.reduce == 'no':
        return loss
    batch = g.shape()[0] if g.ndim() else 1
    return g.Div(g.reduce('ReduceSum', loss), count if f.normalize else batch)


@converts()
def convert_SoftmaxCrossEntropy(g, f, x, t):
    if g.dtype(1).kind == 'f':
        return _soft_targets(g, f, x, t)
    weight = None if f.class_weight is None else g.array(f.class_weight).astype(g.dtype())
    # The operator divides by the sum of the weights, and by zero if no label counts.
    if g.has('SoftmaxCrossEntropyLoss') and f.reduce == 'no' and g.dtype(1).char in 'ilq':
        return g.SoftmaxCrossEntropyLoss(
            x, t, weight, ignore_index=int(f.ignore_label), reduction='none'
        )
    mask, count = _mask(g, f, t)
    log_y = g.softmax(x, 1, g.ndim(), 'LogSoftmax')
    is_ignored = g.Equal(t, g.const(f.ignore_label, g.dtype(1)))
    label = g.cast(g.Where(is_ignored, g.const(0, g.dtype(1)), t), numpy.int64)
    loss = g.Neg(g.at_labels(log_y, label, g.shape()[1]))
    if weight is not None:
        loss = g.Mul(loss, g.Gather(weight, label, axis=0))
    loss = g.Where(is_ignored, 0, loss)
    if f.reduce == 'no':
        return loss
    return g.Div(g.reduce('ReduceSum', loss), count if f.normalize else g.shape()[0])


def _soft_targets(g, f, x, t):
    log_y = g.softmax(x, 1, g.ndim(), 'LogSoftmax')
    loss = g.Neg(g.Mul(t, log_y))
    if f.soft_target_loss == 'kl-divergence':
        positive = g.Greater(t, 0)
        loss = g.Add(loss, g.Mul(t, g.Log(g.Where(positive, t, 1))))
    if f.class_weight is not None:
        weight = g.array(f.class_weight).astype(g.dtype())
        loss = g.Mul(loss, weight.reshape(1, -1, *[1] * (g.ndim() - 2)))
    return _reduced(g, g.reduce('ReduceSum', loss, [1]), f.reduce)


@converts()
def convert_crf1d(g, f, cost, *values):
    n_steps = len(values) // 2
    xs, ys = values[:n_steps], values[n_steps:]
    sizes = [g.shape(1 + i)[0] for i in range(n_steps)]
    if len(values) % 2:
        raise Unsupported('labels after the last step')
    n_label = int(g.shape(0)[0])

    def at_labels(i):
        return g.at_labels(xs[i], g.cast(ys[i], numpy.int64), n_label)

    alpha, score = xs[0], at_labels(0)
    flat = g.reshape(cost, [n_label * n_label])
    ended: list[list[str]] = [[], []]
    for i in range(1, n_steps):
        if sizes[i] != sizes[i - 1]:
            bounds = [sizes[i], sizes[i - 1] - sizes[i]]
            (alpha, alpha_end), (score, score_end) = [g.split(v, bounds, 0) for v in (alpha, score)]
            ended = [[alpha_end, *ended[0]], [score_end, *ended[1]]]
        sums = g.Add(g.unsqueeze(alpha, [2]), g.unsqueeze(cost, [0]))
        alpha = g.Add(g.reduce('ReduceLogSumExp', sums, [1]), xs[i])
        before, now = [g.cast(y, numpy.int64) for y in ys[i - 1 : i + 1]]
        if sizes[i] != sizes[i - 1]:
            before = g.slice(before, [0], [sizes[i]], [0])
        pairs = g.Add(g.Mul(before, g.const(n_label, numpy.int64)), now)
        score = g.Add(g.Add(score, at_labels(i)), g.Gather(flat, pairs, axis=0))
    if ended[0]:
        alpha, score = [g.Concat(v, *ends, axis=0) for v, ends in zip((alpha, score), ended)]
    loss = g.Sub(g.reduce('ReduceLogSumExp', alpha, [1]), score)
    return g.reduce('ReduceMean', loss) if f.reduce == 'mean' else loss


@converts()
def convert_BinaryHierarchicalSoftmaxFunction(g, f, x, t, W):
    """The decisions of each label."""
    paths, codes, begins = [g.array(a) for a in (f.paths, f.codes, f.begins)]
    lengths = numpy.diff(begins)
    inside = numpy.arange(lengths.max()) < lengths[:, None]
    # All labels get as many decisions; a code of zero is none.
    nodes, signs = numpy.zeros(inside.shape, numpy.int64), numpy.zeros(inside.shape, g.dtype())
    nodes[inside], signs[inside] = paths, codes
    sign = g.Gather(signs, t, axis=0)
    weight = g.Gather(W, g.Gather(nodes, t, axis=0), axis=0)
    score = g.squeeze(g.MatMul(weight, g.unsqueeze(x, [2])), [2])
    losses = g.Mul(g.softplus(g.Neg(g.Mul(sign, score))), g.Abs(sign))
    return g.reduce('ReduceSum', losses)


formulas(
    SquaredError=lambda g, f, x0, x1: g.square(g.Sub(x0, x1)),
    MeanSquaredError=lambda g, f, x0, x1: g.reduce('ReduceMean', g.square(g.Sub(x0, x1))),
    AbsoluteError=lambda g, f, x0, x1: g.Abs(g.Sub(x0, x1)),
    MeanAbsoluteError=lambda g, f, x0, x1: g.reduce('ReduceMean', g.Abs(g.Sub(x0, x1))),
)
