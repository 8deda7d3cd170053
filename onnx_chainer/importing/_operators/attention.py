"""Attention, and the convolution that replaces it in models with states."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from .._tensors import dtype_of
from ..registry import operator


def _heads(x, count):
    """``(batch, sequence, heads * size)`` as ``(batch, heads, sequence, size)``."""
    if x.ndim == 4:
        return x
    batch, length, width = x.shape
    if not count or width % count:
        raise ValueError(f'{count} heads for a width of {width}')
    return F.transpose(F.reshape(x, (batch, length, count, width // count)), (0, 2, 1, 3))


def _repeated(x, heads):
    """Keys or values whose heads serve groups of the queries' heads."""
    batch, count, length, size = x.shape
    if count == heads:
        return x
    if heads % count:
        raise ValueError(f'{heads} heads of queries for {count} heads of keys')
    x = F.broadcast_to(F.expand_dims(x, 2), (batch, count, heads // count, length, size))
    return F.reshape(x, (batch, heads, length, size))


def _visible(rows, columns, past, lengths, causal, left, right):
    """Which keys the queries see by their places: an array to broadcast, or ``None`` for all."""
    key = np.arange(columns)
    seen = np.ones((1, 1, 1, columns), bool)
    offset = np.array(past).reshape(1, 1, 1, 1)
    if lengths is not None:
        lengths = lengths.reshape(-1, 1, 1, 1)
        seen = key < lengths
        offset = offset if past else lengths - rows
    place = np.arange(rows)[:, None] + offset
    if causal:
        seen = seen & (key <= place)
    if left >= 0:
        seen = seen & (key >= place - left)
    if right >= 0:
        seen = seen & (key <= place + right)
    return None if seen.all() else seen


def _masked(scores, mask, seen):
    """Scores plus a mask of floats; minus infinity where a mask of booleans or places says no."""
    shape = scores.shape
    if mask is not None and mask.shape[-1] < shape[-1]:
        seen = np.ones((1, 1, 1, shape[-1]), bool) if seen is None else seen
        seen = seen & (np.arange(shape[-1]) < mask.shape[-1])
        widths = [(0, 0)] * (mask.ndim - 1) + [(0, shape[-1] - mask.shape[-1])]
        mask = v.calling_arrays(lambda a: v.xp_of(a).pad(a, widths, 'constant'), mask)
    allowed = [] if seen is None else [v.like(scores, np.broadcast_to(seen, shape).copy())]
    if mask is not None:
        if v.is_float(mask):
            scores = scores + mask
        else:
            allowed.append(F.broadcast_to(mask, shape).array)
    for each in allowed:
        scores = F.where(each, scores, v.like(scores, np.full(shape, -np.inf, scores.dtype)))
    return scores


def _softmax(scores):
    """The softmax of the last axis, in which rows of minus infinity give zeros."""
    dead = v.calling_arrays(lambda a: np.isneginf(a.max(axis=-1, keepdims=True)), scores)
    if not v.on_host(dead).any():
        return F.softmax(scores, axis=-1)
    dead = F.broadcast_to(dead, scores.shape).array
    zeros = v.like(scores, np.zeros(scores.shape, scores.dtype))
    return F.where(dead, zeros, F.softmax(F.where(dead, zeros, scores), axis=-1))


@operator('Attention', host=(6,))
def attention(
    query,
    key,
    value,
    mask,
    past_key,
    past_value,
    lengths,
    *,
    is_causal,
    kv_num_heads,
    left_window_size,
    q_num_heads,
    qk_matmul_output_mode,
    right_window_size,
    scale,
    softcap,
    softmax_precision,
):
    flat = query.ndim == 3
    dtype = query.dtype
    query = _heads(query, q_num_heads)
    key, value = (_heads(x, kv_num_heads) for x in (key, value))
    past = 0
    if past_key is not None:
        past = past_key.shape[2]
        key = F.concat((past_key, key), axis=2)
        value = F.concat((past_value, value), axis=2)
    heads, rows, size = query.shape[1:]
    root = math.sqrt(1 / math.sqrt(size) if scale is None else scale)
    keys = F.transpose(_repeated(key, heads), (0, 1, 3, 2))
    stages = [F.matmul(query * root, keys * root)]
    stages.append(softcap * F.tanh(stages[-1] / softcap) if softcap else stages[-1])
    seen = _visible(
        rows, keys.shape[-1], past, lengths, is_causal, left_window_size, right_window_size
    )
    stages.append(_masked(stages[-1], mask, seen))
    precision = dtype if softmax_precision is None else dtype_of(softmax_precision)
    precise = v.cast(stages[-1], precision) if v.is_float(np.empty(0, precision)) else stages[-1]
    stages.append(v.cast(_softmax(precise), dtype))
    y = F.matmul(stages[-1], _repeated(value, heads))
    if flat:
        y = F.reshape(F.transpose(y, (0, 2, 1, 3)), (y.shape[0], rows, -1))
    return y, key, value, stages[qk_matmul_output_mode]


@operator('CausalConvWithState')
def causal_conv_with_state(x, w, b, past, *, activation):
    count = w.shape[2] - 1
    if past is None:
        past = v.like(x, np.zeros((*x.shape[:2], count), x.dtype))
    x = F.concat((past, x), axis=2)
    y = F.convolution_nd(x, w, b, groups=x.shape[1])
    if activation in ('silu', 'swish'):
        y = y * F.sigmoid(y)
    return y, F.get_item(x, (slice(None), slice(None), slice(x.shape[2] - count, None)))
