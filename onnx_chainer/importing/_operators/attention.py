"""Attention."""

from __future__ import annotations

from chainer import functions as F

from ..registry import operator


@operator('Attention', partial=True)
def attention(
    node, query, key, value, mask, past_key, past_value, lengths, *, is_causal, scale, softcap,
    softmax_precision, left_window_size, right_window_size,
):  # fmt: skip
    """The attention of heads to all keys before them or in a mask, which Chainer has, too."""
    beside = node.has(4) or node.has(6) or any(map(node.wants, (1, 2, 3)))
    changed = softcap or softmax_precision is not None
    windowed = left_window_size >= 0 or right_window_size >= 0
    if beside or changed or windowed or query.ndim != 4 or query.shape[1] != key.shape[1]:
        return NotImplemented
    if mask is not None and (is_causal or mask.shape[-1:] != key.shape[2:3]):
        return NotImplemented
    causal = bool(is_causal)
    return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, scale=scale)
