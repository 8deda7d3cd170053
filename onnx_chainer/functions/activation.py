"""Converters of activation functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from onnx_chainer.functions._declare import converts, one_to_one, row

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


one_to_one(ReLU='Relu', Sigmoid='Sigmoid', Tanh='Tanh')


def _of_channels(g, parameter):
    """Input 1, of the channels, in a shape that is broadcast with the other input."""
    return g.unsqueeze(parameter, list(range(g.ndim(1), g.ndim(0) - 1)))


@converts('GELU')
def convert_GELU(g, f, x):
    """``Gelu`` from opset 20, of ``Erf`` before."""
    if g.has('Gelu'):
        return g.Gelu(x)
    return g.Mul(x, g.Add(g.Mul(g.Erf(g.Mul(x, math.sqrt(0.5))), 0.5), 0.5))


@converts('TanhGELU')
def convert_TanhGELU(g, f, x):
    """``Gelu`` from opset 20, of ``Tanh`` before."""
    if g.has('Gelu'):
        return g.Gelu(x, approximate='tanh')
    scale = math.sqrt(2 / math.pi)
    inner = g.Mul(x, g.Add(g.Mul(g.square(x), 0.044715 * scale), scale))
    return g.Mul(g.Mul(x, 0.5), g.Add(g.Tanh(inner), 1))


@converts('RReLU')
def convert_RReLU(g, f, x):
    """``LeakyRelu`` with the mean slope, or ``PRelu`` with given slopes."""
    slope = numpy.unique(numpy.asarray(g.array(f.r)))
    if len(slope) == 1:
        return g.LeakyRelu(x, alpha=float(slope[0]))
    return g.PRelu(x, f.r)


@converts('Softplus')
def convert_Softplus(g, f, x):
    """``Softplus``."""
    if f.beta == 1:
        return g.Softplus(x)
    return g.Mul(g.Softplus(g.Mul(x, f.beta)), 1 / f.beta)


row('ClippedReLU', '``Clip``.', lambda g, f, x: g.clip(x, 0, f.cap))
row(
    'CReLU',
    '``Relu`` of both signs, and ``Concat``.',
    lambda g, f, x: g.Concat(g.Relu(x), g.Relu(g.Neg(x)), axis=g.axis(f.axis)),
)
row('ELU', '``Elu``.', lambda g, f, x: g.Elu(x, alpha=f.alpha))
row('HardSigmoid', '``HardSigmoid``.', lambda g, f, x: g.HardSigmoid(x, alpha=0.2, beta=0.5))
row('LeakyReLU', '``LeakyRelu``.', lambda g, f, x: g.LeakyRelu(x, alpha=f.slope))
row('LogSoftmax', '``LogSoftmax``.', lambda g, f, x: g.softmax(x, f.axis, g.ndim(), 'LogSoftmax'))
row(
    'Mish',
    '``Mish`` from opset 18, of ``Tanh`` and softplus before.',
    lambda g, f, x: g.Mish(x) if g.has('Mish') else g.Mul(x, g.Tanh(g.softplus(x))),
)
row('PReLUFunction', '``PRelu``.', lambda g, f, x, W: g.PRelu(x, _of_channels(g, W)))
row(
    'Selu',
    "``Selu``. Chainer's function is an ``ELU`` and a ``MulConstant``.",
    lambda g, f, x: g.Selu(x),
)
row('SiLU', 'Of ``Sigmoid``.', lambda g, f, x: g.Mul(x, g.Sigmoid(x)))
row('Softmax', '``Softmax``.', lambda g, f, x: g.softmax(x, f.axis, g.ndim()))
row(
    'Swish',
    'Of ``Sigmoid``.',
    lambda g, f, x, beta: g.Mul(x, g.Sigmoid(g.Mul(x, _of_channels(g, beta)))),
)
