"""Activations."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator
from .elementwise import arithmetic


@operator('Relu')
def relu(node, x, /, *, consumed_inputs=None):
    return arithmetic(F.relu, lambda a: a * (a > 0), x)


@operator('LeakyRelu')
def leaky_relu(node, x, /, *, alpha=0.01, consumed_inputs=None):
    return F.leaky_relu(x, alpha)


@operator('PRelu', trained=(1,))
def prelu(node, x, slope, /, *, consumed_inputs=None):
    if node.opset < 7 and slope.ndim == 1 and x.ndim > 1:
        slope = F.reshape(slope, (-1,) + (1,) * (x.ndim - 2))
    if not v.is_float(x):
        return v.calling_arrays(
            lambda a, s: (a * (a > 0) + a * s * (a < 0)).astype(a.dtype), x, slope
        )
    return F.relu(x) - F.relu(-F.identity(x)) * slope


@operator('ThresholdedRelu')
def thresholded_relu(node, x, /, *, alpha=1.0):
    above = v.calling_arrays(lambda a: (a > alpha).astype(a.dtype), x)
    return F.identity(x) * above


@operator('Elu')
def elu(node, x, /, *, alpha=1.0, consumed_inputs=None):
    return F.elu(x, alpha)


@operator('Selu')
def selu(
    node,
    x,
    /,
    *,
    alpha=1.67326319217681884765625,
    gamma=1.05070102214813232421875,
    consumed_inputs=None,
):
    return F.selu(x, alpha, gamma)


@operator('Celu')
def celu(node, x, /, *, alpha=1.0):
    return F.relu(x) + alpha * F.elu(-F.relu(-F.identity(x)) / alpha)


@operator('Sigmoid')
def sigmoid(node, x, /, *, consumed_inputs=None):
    return F.sigmoid(x)


@operator('Tanh')
def tanh(node, x, /, *, consumed_inputs=None):
    return F.tanh(x)


@operator('HardSigmoid')
def hard_sigmoid(node, x, /, *, alpha=0.2, beta=0.5, consumed_inputs=None):
    return F.clip(alpha * F.identity(x) + beta, 0.0, 1.0)


@operator('HardSwish')
def hard_swish(node, x, /):
    return x * F.clip(F.identity(x) / 6 + 0.5, 0.0, 1.0)


@operator('Softplus')
def softplus(node, x, /):
    return F.softplus(x)


@operator('Softsign')
def softsign(node, x, /):
    return x / (1 + F.absolute(x))


@operator('Gelu')
def gelu(node, x, /, *, approximate='none'):
    if approximate == 'tanh':
        cubed = x + 0.044715 * F.identity(x) ** 3
        return 0.5 * F.identity(x) * (1 + F.tanh(math.sqrt(2 / math.pi) * cubed))
    return F.gelu(x)


@operator('Mish')
def mish(node, x, /):
    return F.mish(x)


@operator('Swish')
def swish(node, x, /, *, alpha=1.0):
    return x * F.sigmoid(alpha * F.identity(x))


@operator('Shrink')
def shrink(node, x, /, *, lambd=0.5, bias=0.0):
    if not v.is_float(x):
        return v.calling_arrays(
            lambda a: ((a < -lambd) * (a + bias) + (a > lambd) * (a - bias)).astype(a.dtype), x
        )
    outside = v.calling_arrays(lambda a: (abs(a) > lambd).astype(a.dtype), x)
    shift = v.calling_arrays(
        lambda a: (bias * (a < -lambd) - bias * (a > lambd)).astype(a.dtype), x
    )
    return F.identity(x) * outside + shift


def _along(function, node, x, axis):
    """A function along an axis; below opset 13, along all axes from it on."""
    if node.opset >= 13:
        return function(x, -1 if axis is None else axis)
    axis = 1 if axis is None else axis % max(x.ndim, 1)
    rows = math.prod(x.shape[:axis])
    return F.reshape(function(F.reshape(x, (rows, -1 if rows else 0)), 1), x.shape)


@operator('Softmax')
def softmax(node, x, /, *, axis=None):
    return _along(lambda a, i: F.softmax(a, axis=i), node, x, axis)


@operator('LogSoftmax')
def log_softmax(node, x, /, *, axis=None):
    return _along(lambda a, i: F.log_softmax(a, axis=i), node, x, axis)


@operator('Hardmax', takes=ARRAYS)
def hardmax(node, x, /, *, axis=None):
    def largest(a, i):
        xp = v.xp_of(a)
        a = v.array_of(a)
        steps = xp.arange(a.shape[i]).reshape((-1,) + (1,) * (a.ndim - 1 - i % a.ndim))
        return (steps == xp.expand_dims(a.argmax(axis=i), i)).astype(a.dtype)

    return v.array_of(_along(largest, node, x, axis))


@operator('Dropout', host=(1, 2))
def dropout(
    node, x, given=None, training=None, /, *, ratio=0.5, seed=None, is_test=0, consumed_inputs=None
):
    ratio = ratio if given is None else v.scalar(given)
    # Opsets from 7 to 11 are for inference only.
    on = not is_test if node.opset < 7 else training is not None and bool(v.scalar(training))
    shape = x.shape
    if not on or ratio == 0:
        return F.identity(x), v.like(x, np.ones(shape, bool))
    if not 0 <= ratio < 1:
        raise ValueError(f'the ratio is {ratio}')
    random = np.random if seed is None else np.random.RandomState(seed % 2**32)
    kept = np.asarray(random.uniform(size=shape)) >= ratio
    return x * v.like(x, (kept / (1 - ratio)).astype(x.dtype)), v.like(x, kept)
