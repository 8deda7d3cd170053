"""Converters of activation functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from onnx_chainer.functions._declare import converts, one_to_one

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


globals().update(one_to_one(ReLU='Relu', Sigmoid='Sigmoid', Tanh='Tanh'))


@converts('ClippedReLU')
def convert_ClippedReLU(g, f, x):
    """``Clip``."""
    return g.clip(x, 0, f.cap)


@converts('CReLU')
def convert_CReLU(g, f, x):
    """``Relu`` of both signs, and ``Concat``."""
    return g.Concat(g.Relu(x), g.Relu(g.Neg(x)), axis=g.axis(f.axis))


@converts('ELU')
def convert_ELU(g, f, x):
    """``Elu``."""
    return g.Elu(x, alpha=f.alpha)


@converts('GELU')
def convert_GELU(g, f, x):
    """``Gelu`` from opset 20, of ``Erf`` before."""
    if g.opset >= 20:
        return g.Gelu(x)
    return g.Mul(x, g.Add(g.Mul(g.Erf(g.Mul(x, math.sqrt(0.5))), 0.5), 0.5))


@converts('TanhGELU')
def convert_TanhGELU(g, f, x):
    """``Gelu`` from opset 20, of ``Tanh`` before."""
    if g.opset >= 20:
        return g.Gelu(x, approximate='tanh')
    inner = g.Mul(
        x, g.Add(g.Mul(g.Mul(x, x), 0.044715 * math.sqrt(2 / math.pi)), math.sqrt(2 / math.pi))
    )
    return g.Mul(g.Mul(x, 0.5), g.Add(g.Tanh(inner), 1))


@converts('HardSigmoid')
def convert_HardSigmoid(g, f, x):
    """``HardSigmoid``."""
    return g.HardSigmoid(x, alpha=0.2, beta=0.5)


@converts('LeakyReLU')
def convert_LeakyReLU(g, f, x):
    """``LeakyRelu``."""
    return g.LeakyRelu(x, alpha=f.slope)


@converts('LogSoftmax')
def convert_LogSoftmax(g, f, x):
    """``LogSoftmax``."""
    return g.softmax(x, f.axis, g.ndim(), 'LogSoftmax')


@converts('Mish')
def convert_Mish(g, f, x):
    """``Mish`` from opset 18, of ``Tanh`` and softplus before."""
    if g.opset >= 18:
        return g.Mish(x)
    return g.Mul(x, g.Tanh(g.softplus(x)))


@converts('PReLUFunction')
def convert_PReLUFunction(g, f, x, W):
    """``PRelu``."""
    missing = g.ndim(0) - 1 - g.ndim(1)
    return g.PRelu(x, g.unsqueeze(W, list(range(g.ndim(1), g.ndim(1) + missing))))


@converts('RReLU')
def convert_RReLU(g, f, x):
    """``LeakyRelu`` with the mean slope, or ``PRelu`` with given slopes."""
    slope = numpy.unique(numpy.asarray(g.array(f.r)))
    if len(slope) == 1:
        return g.LeakyRelu(x, alpha=float(slope[0]))
    return g.PRelu(x, f.r)


@converts('Selu')
def convert_Selu(g, f, x):
    """``Selu``. Chainer's function is an ``ELU`` and a ``MulConstant``."""
    return g.Selu(x)


@converts('SiLU')
def convert_SiLU(g, f, x):
    """Of ``Sigmoid``."""
    return g.Mul(x, g.Sigmoid(x))


@converts('Softmax')
def convert_Softmax(g, f, x):
    """``Softmax``."""
    return g.softmax(x, f.axis, g.ndim())


@converts('Softplus')
def convert_Softplus(g, f, x):
    """``Softplus``."""
    if f.beta == 1:
        return g.Softplus(x)
    return g.Mul(g.Softplus(g.Mul(x, f.beta)), 1 / f.beta)


@converts('Swish')
def convert_Swish(g, f, x, beta):
    """Of ``Sigmoid``."""
    missing = g.ndim(0) - 1 - g.ndim(1)
    beta = g.unsqueeze(beta, list(range(g.ndim(1), g.ndim(1) + missing)))
    return g.Mul(x, g.Sigmoid(g.Mul(x, beta)))
