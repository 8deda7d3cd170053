"""Activations."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator, operators
from .elementwise import arithmetic


@operator('PRelu', trained=(1,))
def prelu(node, x, slope):
    if node.opset < 7 and slope.ndim == 1 and x.ndim > 1:
        slope = v.along_axis(slope, 1, x.ndim)
    if not v.is_float(x):
        return v.calling_arrays(
            lambda a, s: (a * (a > 0) + a * s * (a < 0)).astype(a.dtype), x, slope
        )
    return F.relu(x) - F.relu(-F.identity(x)) * slope


def along(function, x, axis, opset):
    """A function along an axis; below opset 13, along all axes from it on."""
    if opset >= 13:
        return function(x, axis=axis)
    axis %= max(x.ndim, 1)
    rows = math.prod(x.shape[:axis])
    return F.reshape(function(F.reshape(x, (rows, -1 if rows else 0)), axis=1), x.shape)


def _largest(x, axis):
    xp, a = v.xp_of(x), v.array_of(x)
    steps = v.along_axis(xp.arange(a.shape[axis]), axis, a.ndim)
    return (steps == xp.expand_dims(a.argmax(axis=axis), axis)).astype(a.dtype)


def _softmax(function):
    return lambda node, x, *, axis: along(function, x, axis, node.opset)


operators(
    {
        'Relu': arithmetic(F.relu, lambda a: a * (a > 0)),
        'LeakyRelu': lambda x, *, alpha: F.leaky_relu(x, alpha),
        'Elu': lambda x, *, alpha: F.elu(x, alpha),
        'Selu': lambda x, *, alpha, gamma: F.selu(x, alpha, gamma),
        'Celu': lambda x, *, alpha: F.relu(x) + alpha * F.elu(-F.relu(-F.identity(x)) / alpha),
        'Sigmoid': lambda x: F.sigmoid(x),
        'Tanh': lambda x: F.tanh(x),
        'HardSigmoid': lambda x, *, alpha, beta: F.clip(alpha * F.identity(x) + beta, 0.0, 1.0),
        'Softplus': lambda x: F.softplus(x),
        'Gelu': lambda x, *, approximate: F.gelu(x, approximate == 'tanh'),
        'Mish': lambda x: F.mish(x),
        'Softmax': _softmax(F.softmax),
        'LogSoftmax': _softmax(F.log_softmax),
    }
)
operators(
    {'Hardmax': lambda node, x, *, axis: v.array_of(along(_largest, x, axis, node.opset))},
    takes=ARRAYS,
)


@operator('Dropout', scalars=(1, 2))
def dropout(node, x, ratio=0.5, training=False, *, seed, is_test):
    # Opsets from 7 to 11 are for inference only.
    on = not is_test if node.opset < 7 else training
    if not on or ratio == 0:
        return F.identity(x), v.like(x, np.ones(x.shape, bool))
    if not 0 <= ratio < 1:
        raise ValueError(f'the ratio is {ratio}')
    kept = np.asarray(v.random(seed).uniform(size=x.shape)) >= ratio
    return x * v.like(x, (kept / (1 - ratio)).astype(x.dtype)), v.like(x, kept)
