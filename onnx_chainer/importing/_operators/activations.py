"""Activations."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator, operators
from .elementwise import arithmetic

operators(
    {
        'Relu': lambda x: arithmetic(F.relu, lambda a: a * (a > 0), x),
        'LeakyRelu': lambda x, *, alpha: F.leaky_relu(x, alpha),
        'Elu': lambda x, *, alpha: F.elu(x, alpha),
        'Selu': lambda x, *, alpha, gamma: F.selu(x, alpha, gamma),
        'Celu': lambda x, *, alpha: F.relu(x) + alpha * F.elu(-F.relu(-F.identity(x)) / alpha),
        'Sigmoid': lambda x: F.sigmoid(x),
        'Tanh': lambda x: F.tanh(x),
        'HardSigmoid': lambda x, *, alpha, beta: F.clip(alpha * F.identity(x) + beta, 0.0, 1.0),
        'Softplus': lambda x: F.softplus(x),
        'Mish': lambda x: F.mish(x),
    }
)


@operator('PRelu', trained=(1,))
def prelu(node, x, slope):
    if node.opset < 7 and slope.ndim == 1 and x.ndim > 1:
        slope = F.reshape(slope, (-1,) + (1,) * (x.ndim - 2))
    if not v.is_float(x):
        return v.calling_arrays(
            lambda a, s: (a * (a > 0) + a * s * (a < 0)).astype(a.dtype), x, slope
        )
    return F.relu(x) - F.relu(-F.identity(x)) * slope


@operator('Gelu')
def gelu(x, *, approximate):
    if approximate == 'tanh':
        cubed = x + 0.044715 * F.identity(x) ** 3
        return 0.5 * F.identity(x) * (1 + F.tanh(math.sqrt(2 / math.pi) * cubed))
    return F.gelu(x)


def along(function, x, axis, opset):
    """A function along an axis; below opset 13, along all axes from it on."""
    if opset >= 13:
        return function(x, axis=axis)
    axis %= max(x.ndim, 1)
    rows = math.prod(x.shape[:axis])
    return F.reshape(function(F.reshape(x, (rows, -1 if rows else 0)), axis=1), x.shape)


def _largest(x, axis):
    xp, a = v.xp_of(x), v.array_of(x)
    steps = xp.arange(a.shape[axis]).reshape((-1,) + (1,) * (a.ndim - 1 - axis % a.ndim))
    return (steps == xp.expand_dims(a.argmax(axis=axis), axis)).astype(a.dtype)


operators(
    {
        'Softmax': lambda node, x, *, axis: along(F.softmax, x, axis, node.opset),
        'LogSoftmax': lambda node, x, *, axis: along(F.log_softmax, x, axis, node.opset),
    }
)


@operator('Hardmax', takes=ARRAYS)
def hardmax(node, x, *, axis):
    return v.array_of(along(_largest, x, axis, node.opset))


@operator('Dropout', host=(1, 2))
def dropout(node, x, ratio, training, *, seed, is_test):
    ratio = 0.5 if ratio is None else v.scalar(ratio)
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
