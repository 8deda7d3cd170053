"""Converters of functions with weights."""

from __future__ import annotations

import math
from typing import Any

import numpy

from onnx_chainer.functions._convolution import convolution, transposed_convolution
from onnx_chainer.functions._declare import converts, formulas


def _alike(g, xs):
    """Casts inputs to the dtype of the first one."""
    return [x if g.dtype(i) == g.dtype() else g.cast(x, g.dtype()) for i, x in enumerate(xs)]


def _convolution(g, f, *xs):
    ksize = [int(k) for k in g.shape(1)[2:]]
    return convolution(g, _alike(g, xs), ksize, f.stride, f.pad, f.dilate, f.groups, f.cover_all)


def _deconvolution(g, f, *xs):
    ksize = [int(k) for k in g.shape(1)[2:]]
    return transposed_convolution(g, _alike(g, xs), ksize, f.stride, f.pad, f.dilate, f.groups)


@converts()
def convert_EmbedIDFunction(g, f, x, W):
    if f.ignore_label is None:
        return g.Gather(W, x, axis=0)
    ignored = g.Equal(x, g.const(f.ignore_label, g.dtype()))
    y = g.Gather(W, g.Where(ignored, g.const(0, g.dtype()), x), axis=0)
    zero = g.const(0, g.out_dtype())
    return g.Where(g.unsqueeze(ignored, [g.ndim()]), zero, y)


@converts()
def convert_LinearFunction(g, f, *xs):
    x, W, *b = _alike(g, xs)
    return g.Gemm(x, W, *(b or no_bias(g)), transB=1)


def no_bias(g: Any) -> list[Any]:
    """The inputs of ``Gemm`` in place of a bias: zero where the opset needs one."""
    return [] if g.opset >= 11 else [g.const(numpy.zeros(1, g.dtype()))]


@converts()
def convert_BilinearFunction(g, f, e1, e2, W, *rest):
    n1, n2, n_out = (int(n) for n in g.shape(2))
    e1, e2 = [g.reshape(e, [-1, n]) for e, n in ((e1, n1), (e2, n2))]
    pairs = g.Mul(g.unsqueeze(e1, [2]), g.unsqueeze(e2, [1]))
    y = g.MatMul(g.reshape(pairs, [-1, n1 * n2]), g.reshape(W, [n1 * n2, n_out]))
    if rest:
        V1, V2, b = rest
        y = g.Add(g.Add(g.Add(y, g.MatMul(e1, V1)), g.MatMul(e2, V2)), b)
    return y


@converts()
def convert_LocalConvolution2DFunction(g, f, x, W, b=None):
    """Windows, and products with the weights of each position."""
    n_out, out_h, out_w, c, kh, kw = (int(n) for n in g.shape(1))
    windows = []
    for i, j in numpy.ndindex(out_h, out_w):
        top, left = i * f.sy, j * f.sx
        part = g.slice(x, [top, left], [top + kh, left + kw], [2, 3])
        windows.append(g.reshape(part, [1, -1, c * kh * kw]))
    rows = g.Concat(*windows, axis=0)
    weights = g.Transpose(g.reshape(W, [n_out, out_h * out_w, c * kh * kw]), perm=[1, 2, 0])
    y = g.Transpose(g.MatMul(rows, weights), perm=[1, 2, 0])
    y = g.reshape(y, [-1, n_out, out_h, out_w])
    return y if b is None else g.Add(y, b)


@converts()
def convert_Shift(g, f, x):
    """One-hot weights, a group for each channel."""
    c, k = int(g.shape()[1]), f.kh * f.kw
    size = c // k
    directions = list(range(k))
    directions[k // 2], directions[-1] = directions[-1], directions[k // 2]
    weight = numpy.zeros((c, 1, f.kh, f.kw), g.dtype())
    for channel in range(c):
        row, column = divmod(directions[min(channel // size, k - 1)], f.kw)
        # A shift down reads from above.
        weight[channel, 0, f.kh - 1 - row, f.kw - 1 - column] = 1
    pads = [f.kh // 2 * f.dy, f.kw // 2 * f.dx]
    return g.Conv(
        x, weight, kernel_shape=[f.kh, f.kw], pads=pads * 2, dilations=[f.dy, f.dx], group=c
    )


_LOWEST = {'e': -6e4, 'f': -1e38, 'd': -1e300}


@converts()
def convert_scaled_dot_product_attention(g, f, q, k, v, mask=None):
    """The operator for four axes; others are made of products."""
    scale = 1 / math.sqrt(int(g.shape(0)[-1])) if f.scale is None else f.scale
    # The operator gives NaN for a row without an allowed position, Chainer zeros.
    if g.has('Attention') and (mask is None or g.dtype(3).kind == 'f') and _are_plain(g):
        return g.Attention(q, k, v, mask, is_causal=int(f.is_causal), scale=float(scale))
    score = g.MatMul(g.Mul(q, float(scale)), g.swapped(k, g.ndim(1)))
    allowed = None
    if f.is_causal:
        rows, columns = g.arange(g.shape(0)[-2]), g.arange(g.shape(1)[-2])
        allowed = g.Not(g.Less(g.unsqueeze(rows, [1]), g.unsqueeze(columns, [0])))
    elif mask is not None and g.dtype(3).kind == 'f':
        score = g.Add(score, mask if g.dtype(3) == g.dtype() else g.cast(mask, g.dtype()))
    elif mask is not None:
        allowed = mask
    if allowed is not None:
        score = g.Where(allowed, score, g.const(_LOWEST[numpy.dtype(g.dtype()).char]))
    weight = g.softmax(score, -1, len(g.out_shape()), 'Softmax')
    if allowed is not None and not f.is_causal:
        weight = g.Where(allowed, weight, g.const(0))
    return g.MatMul(weight, v)


def _are_plain(g):
    """Whether the inputs have a batch and heads, and no broadcasting."""
    shapes = [g.shape(i) for i in range(3)]
    return all(len(s) == 4 and s[:2] == shapes[0][:2] for s in shapes)


formulas(
    Convolution2DFunction=_convolution,
    ConvolutionND=_convolution,
    Deconvolution2DFunction=_deconvolution,
    DeconvolutionND=_deconvolution,
)
