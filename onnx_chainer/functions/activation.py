"""Converters of activation functions."""

from __future__ import annotations

import math

import numpy

from onnx_chainer.functions._declare import converts, formulas, one_to_one

# Programs may wrap a function by the name Selu; that of Chainer is an ELU and a product.
one_to_one(ReLU='Relu', Selu='Selu', Sigmoid='Sigmoid', Tanh='Tanh')


def _of_channels(g, parameter):
    """Input 1, of the channels, in a shape that is broadcast with the other input."""
    return g.unsqueeze(parameter, list(range(g.ndim(1), g.ndim(0) - 1)))


@converts()
def convert_TanhGELU(g, f, x):
    if g.has('Gelu'):
        return g.Gelu(x, approximate='tanh')
    scale = math.sqrt(2 / math.pi)
    inner = g.Mul(x, g.Add(g.Mul(g.square(x), 0.044715 * scale), scale))
    return g.Mul(g.Mul(x, 0.5), g.Add(g.Tanh(inner), 1))


@converts()
def convert_RReLU(g, f, x):
    """The mean slope, or given slopes."""
    slope = numpy.unique(numpy.asarray(g.array(f.r)))
    if len(slope) == 1:
        return g.LeakyRelu(x, alpha=float(slope[0]))
    return g.PRelu(x, f.r)


def _softplus(g, f, x):
    return g.Softplus(x) if f.beta == 1 else g.Mul(g.Softplus(g.Mul(x, f.beta)), 1 / f.beta)


formulas(
    ClippedReLU=lambda g, f, x: g.clip(x, 0, f.cap),
    CReLU=lambda g, f, x: g.Concat(g.Relu(x), g.Relu(g.Neg(x)), axis=g.axis(f.axis)),
    ELU=lambda g, f, x: g.Elu(x, alpha=f.alpha),
    GELU=lambda g, f, x: g.Gelu(x) if g.has('Gelu') else g.Mul(x, g.ndtr(x)),
    HardSigmoid=lambda g, f, x: g.HardSigmoid(x, alpha=0.2, beta=0.5),
    LeakyReLU=lambda g, f, x: g.LeakyRelu(x, alpha=f.slope),
    LogSoftmax=lambda g, f, x: g.softmax(x, f.axis, g.ndim(), 'LogSoftmax'),
    Mish=lambda g, f, x: g.Mish(x) if g.has('Mish') else g.Mul(x, g.Tanh(g.softplus(x))),
    PReLUFunction=lambda g, f, x, W: g.PRelu(x, _of_channels(g, W)),
    SiLU=lambda g, f, x: g.Mul(x, g.Sigmoid(x)),
    Softmax=lambda g, f, x: g.softmax(x, f.axis, g.ndim(), 'Softmax'),
    Softplus=_softplus,
    Swish=lambda g, f, x, beta: g.Mul(x, g.Sigmoid(g.Mul(x, _of_channels(g, beta)))),
)
