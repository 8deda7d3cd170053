"""Attention of scaled dot products."""

from __future__ import annotations

import math
from typing import Any

import numpy

_LOWEST = {'e': -6e4, 'f': -1e38, 'd': -1e300}


def attend(g: Any, f: Any, q: str, k: str, v: str, mask: str | None = None) -> Any:
    """Name of the output."""
    scale = f.scale
    if scale is None:
        scale = 1 / math.sqrt(int(g.shape(0)[-1]))
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
    weight = g.softmax(score, -1, len(g.out_shape()))
    if allowed is not None and not f.is_causal:
        weight = g.Where(allowed, weight, g.const(0))
    return g.MatMul(weight, v)


def _are_plain(g):
    """Whether the inputs have a batch and heads, and no broadcasting."""
    shapes = [g.shape(i) for i in range(3)]
    if any(len(s) != 4 for s in shapes):
        return False
    return all(s[:2] == shapes[0][:2] for s in shapes)
