"""Normalizations."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import operator


@operator('BatchNormalization', statistics=(3, 4))
def batch_normalization(
    node, x, scale, bias, mean, var, *, epsilon, momentum, training_mode, is_test, spatial
):
    if node.opset < 14 and node.wants(1):
        training_mode = node.opset >= 7 or is_test == 0
    dtype = x.dtype
    scale, bias, mean, var = (v.cast(p, dtype) for p in (scale, bias, mean, var))
    if training_mode:
        return _normalize_by_batch(x, scale, bias, mean, var, epsilon, momentum)
    if x.ndim == 1:
        x = F.expand_dims(x, 1)
        return F.squeeze(F.fixed_batch_normalization(x, scale, bias, mean, var, epsilon), 1)
    if spatial:
        return F.fixed_batch_normalization(x, scale, bias, mean, var, epsilon)
    return (x - mean) * (scale / F.sqrt(var + epsilon)) + bias


def _normalize_by_batch(x, scale, bias, mean, var, epsilon, momentum):
    """The result, the running statistics, and those of the batch."""
    axes = tuple(i for i in range(x.ndim) if i != 1)
    batch_mean = F.mean(x, axis=axes)
    batch_var = F.mean(F.square(x - v.along_axis(batch_mean, 1, x.ndim)), axis=axes)
    y = F.fixed_batch_normalization(x, scale, bias, batch_mean, batch_var, epsilon)
    now = v.array_of(batch_mean), v.array_of(batch_var)
    pairs = zip((mean, var), now)
    running = (momentum * F.identity(old) + (1 - momentum) * new for old, new in pairs)
    return y, *running, *now


@operator('InstanceNormalization')
def instance_normalization(x, scale, bias, *, epsilon):
    return F.group_normalization(x, x.shape[1], scale, bias, epsilon)


@operator('GroupNormalization', partial=True)
def group_normalization(node, x, scale, bias, *, num_groups, epsilon):
    if node.opset < 21 or scale.dtype != x.dtype:  # a scale for each group
        return NotImplemented
    return F.group_normalization(x, num_groups, scale, bias, epsilon)


@operator('LayerNormalization', partial=True)
def layer_normalization(node, x, scale, bias, *, axis, epsilon):
    axis = v.axis_of(axis, x.ndim)
    if node.wants(1) or node.wants(2) or scale.shape != x.shape[axis:]:
        return NotImplemented
    bias = v.like(x, np.zeros(scale.shape, scale.dtype)) if bias is None else bias
    rows = F.reshape(x, (-1, math.prod(x.shape[axis:])))
    gamma, beta = F.reshape(scale, (-1,)), F.reshape(bias, (-1,))
    return F.reshape(F.layer_normalization(rows, gamma, beta, epsilon), x.shape)


@operator('RMSNormalization', partial=True)
def rms_normalization(x, scale, *, axis, epsilon):
    last = v.axis_of(axis, x.ndim) == x.ndim - 1
    if not last or scale.dtype != x.dtype or scale.shape != x.shape[-1:]:
        return NotImplemented
    return F.rms_normalization(x, scale, epsilon)


@operator('LpNormalization')
def lp_normalization(x, *, axis, p):
    total = F.sum(F.absolute(x) if p == 1 else F.square(x), axis=axis, keepdims=True)
    norm = total if p == 1 else F.sqrt(total)
    # Rows of zeros stay zeros.
    return x / (norm + v.calling_arrays(lambda a: (a == 0).astype(a.dtype), norm))


@operator('LRN')
def local_response_normalization(x, *, size, alpha, beta, bias):
    before, behind = (size - 1) // 2, size // 2
    widths = [(0, 0), (before, behind)] + [(0, 0)] * (x.ndim - 2)
    squares = F.pad(F.square(x), widths, 'constant', constant_values=0)
    total = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    return x / (bias + alpha / size * total) ** beta
