"""Converters of normalizations."""

from __future__ import annotations

import numpy

from onnx_chainer.functions._declare import converts


def _axes(g, f):
    """Axes whose elements share a mean and a variance."""
    return [0, *range(g.ndim(1) + 1, g.ndim())] if f.axis is None else sorted(f.axis)


@converts()
def convert_BatchNormalization(g, f, x, gamma, beta):
    axes = _axes(g, f)
    x, gamma, beta = _widened(g, x, gamma, beta)
    centered = g.Sub(x, g.reduce('ReduceMean', x, axes, True))
    var = g.reduce('ReduceMean', g.square(centered), axes, True)
    gamma, beta = [g.unsqueeze(each, axes) for each in (gamma, beta)]
    return _scaled(g, f, centered, var, gamma, beta)


def _wide(g):
    """Dtype of the computation: that of the widest input, at least float32."""
    return numpy.result_type(numpy.float32, *[g.dtype(i) for i in range(len(g.names))])


def _widened(g, *xs):
    """The inputs in the dtype of the computation."""
    dtype = _wide(g)
    return [x if g.dtype(i) == dtype else g.cast(x, dtype) for i, x in enumerate(xs)]


def _scaled(g, f, centered, var, gamma, beta):
    """What is less its mean, by the deviation, scaled and shifted; in the dtype of the output."""
    dtype = _wide(g)
    scale = g.Div(gamma, g.Sqrt(g.Add(var, g.const(f.eps, dtype))))
    y = g.Add(g.Mul(centered, scale), beta)
    return y if g.out_dtype() == dtype else g.cast(y, g.out_dtype())


@converts()
def convert_FixedBatchNormalization(g, f, x, gamma, beta, mean, var):
    """The operator for the second axis, arithmetic for others."""
    axes = _axes(g, f)
    if axes == [0, *range(2, g.ndim())] and all(g.dtype(i) == g.dtype() for i in range(5)):
        return g.BatchNormalization(x, gamma, beta, mean, var, epsilon=float(f.eps))
    x, *parameters = _widened(g, x, gamma, beta, mean, var)
    gamma, beta, mean, var = [g.unsqueeze(each, axes) for each in parameters]
    return _scaled(g, f, g.Sub(x, mean), var, gamma, beta)


@converts()
def convert_FixedDecorrelatedBatchNormalization(g, f, x, mean, projection):
    shape = g.shape()
    order = [1, 0, *range(2, len(shape))]
    size = int(shape[1]) // f.groups
    rows = g.reshape(g.Transpose(x, perm=order), [f.groups, size, -1])
    y = g.MatMul(projection, g.Sub(rows, g.unsqueeze(mean, [2])))
    return g.Transpose(g.reshape(y, [shape[1], shape[0], *shape[2:]]), perm=order)


@converts()
def convert_GroupNormalization(g, f, x, gamma, beta):
    """The operator from opset 21 on, when its scale is that of channels."""
    if g.opset >= 21 and g.dtype(1) == g.dtype():
        return g.GroupNormalization(x, gamma, beta, epsilon=float(f.eps), num_groups=f.groups)
    rows = g.Reshape(x, g.ints([0, f.groups, -1]))
    one, zero = [g.full([f.groups], g.dtype().type(value)) for value in (1, 0)]
    y = g.InstanceNormalization(rows, one, zero, epsilon=float(f.eps))
    y = g.Reshape(y, g.Shape(x))
    axes = list(range(1, g.ndim() - 1))
    return g.Add(g.Mul(y, g.unsqueeze(gamma, axes)), g.unsqueeze(beta, axes))


@converts()
def convert_LayerNormalization(g, f, x, gamma, beta):
    if g.has('LayerNormalization') and g.dtype(1) == g.dtype():
        return g.LayerNormalization(x, gamma, beta, axis=-1, epsilon=float(f.eps))
    axes = [g.ndim() - 1]
    centered = g.Sub(x, g.reduce('ReduceMean', x, axes, True))
    var = g.reduce('ReduceMean', g.square(centered), axes, True)
    y = g.Div(centered, g.Sqrt(g.Add(var, f.eps)))
    return g.Add(g.Mul(y, gamma), beta)


@converts()
def convert_RMSNormalization(g, f, x, gamma):
    if g.has('RMSNormalization') and g.dtype(1) == g.dtype():
        return g.RMSNormalization(x, gamma, axis=-1, epsilon=float(f.eps))
    square = g.reduce('ReduceMean', g.square(x), [g.ndim() - 1], True)
    return g.Mul(g.Div(x, g.Sqrt(g.Add(square, f.eps))), gamma)


@converts()
def convert_LocalResponseNormalization(g, f, x):
    n = f.n // 2 * 2 + 1
    # ONNX divides alpha by the width of the window.
    return g.LRN(x, size=n, alpha=float(f.alpha * n), beta=float(f.beta), bias=float(f.k))


@converts()
def convert_NormalizeL2(g, f, x):
    norm = g.reduce('ReduceL2', x, g.axes(f.axis), True)
    return g.Div(x, g.Add(norm, f.eps))
