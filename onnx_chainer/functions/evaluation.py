"""Converters of measures of predictions."""

from __future__ import annotations

import numpy

from onnx_chainer.functions._declare import converts


def _share(g, hits, counted):
    """How many of the labels that count are hits, which are none if no label counts."""

    def number(condition):
        return g.reduce('ReduceSum', g.cast(condition, numpy.float32))

    total = g.Max(number(counted), g.const(1, numpy.float32))
    return g.cast(g.Div(number(g.And(hits, counted)), total), g.dtype())


def _predicted(g, y):
    """Classes with the highest score, in the shape of the labels, as int64."""
    return g.reshape(g.ArgMax(y, axis=1, keepdims=0), g.shape(1))


@converts()
def convert_Accuracy(g, f, y, t):
    hits = g.Equal(_predicted(g, y), g.cast(t, numpy.int64))
    if f.ignore_label is None:
        return g.reduce('ReduceMean', g.cast(hits, g.dtype()))
    return _share(g, hits, g.counted(t, f.ignore_label))


@converts()
def convert_BinaryAccuracy(g, f, y, t):
    counted = g.counted(t, f.ignore_label)
    is_one = g.Equal(t, g.const(1, g.dtype(1)))
    # A hit: not negative and labelled one, or negative and not.
    return _share(g, g.Xor(g.Less(y, 0), is_one), counted)


@converts()
def convert_ClassificationSummary(g, f, y, t):
    """The number of classes is fixed."""
    n = len(g.out_shape()) and int(g.out_shape()[0])
    ndim = g.ndim(1)
    classes = numpy.arange(n).reshape(n, *[1] * ndim)
    counted = g.counted(t, f.ignore_label)
    axes = list(range(1, ndim + 1))

    def number(condition):
        return g.reduce('ReduceSum', g.cast(condition, numpy.float64), axes)

    is_true, is_predicted = [
        g.And(g.Equal(g.unsqueeze(labels, [0]), classes), counted)
        for labels in (g.cast(t, numpy.int64), _predicted(g, y))
    ]
    relevant, support = number(g.And(is_true, is_predicted)), number(is_true)
    precision = g.Div(relevant, number(is_predicted))
    recall = g.Div(relevant, support)
    beta2 = f.beta**2
    products = g.Mul(g.Mul(precision, recall), g.const(1 + beta2, numpy.float64))
    weighted = g.Add(g.Mul(precision, g.const(beta2, numpy.float64)), recall)
    results = precision, recall, g.Div(products, weighted), support
    return [g.cast(y, g.out_dtype(i)) for i, y in enumerate(results)]


@converts()
def convert_R2_score(g, f, prediction, truth):
    residual = g.reduce('ReduceSumSquare', g.Sub(prediction, truth), [0])
    total = g.reduce('ReduceSumSquare', g.Sub(truth, g.reduce('ReduceMean', truth, [0], True)), [0])
    is_zero = g.equal(total, 0, g.dtype())
    score = g.Sub(1, g.Div(residual, g.Where(is_zero, 1, total)))
    score = g.Where(is_zero, 0, score)
    return g.reduce('ReduceMean', score) if f.multioutput == 'uniform_average' else score
