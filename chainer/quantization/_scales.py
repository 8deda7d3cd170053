"""Scales and zero points of ranges and of weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer.quantization import _functions

if TYPE_CHECKING:
    from chainer.types import NdArray


def scale_of_range(low: float, high: float, dtype: str) -> tuple[float, int]:
    """Scale and zero point with which integers reach from ``low`` to ``high``, and hold zero.

    Ranges of uint8 may lie anywhere; those of int8 are symmetric, with the zero point zero.
    """
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    if not math.isfinite(high - low):
        raise ValueError(f'a range must be finite, but is {low} to {high}')
    least, most = _functions.limits_of(dtype)
    if least < 0:
        return max(-low, high) / most or 1.0, 0
    scale = (high - low) / most or 1.0
    return scale, round(-low / scale)


def scale_of_weight(W: NdArray, bits: int, axis: int | None, block_size: int = 0) -> Any:
    """Scales of the dtype of a weight that make its largest magnitudes the largest integers.

    Args:
        W: Weight, an array of any module.
        bits: Bits of the integers.
        axis: Axis with a scale for each index; ``None`` is one scale for all.
        block_size: If it is not zero, scales are for blocks of this length along ``axis``, and
            for each index of the other axes.

    """
    xp = backend.get_array_module(W)
    magnitudes: Any = abs(W)
    if block_size:
        assert axis is not None
        largest = _largest_of_blocks(xp, magnitudes, axis, block_size)
    else:
        others = [i for i in range(W.ndim) if axis is not None and i != axis % W.ndim]
        largest = magnitudes.max(axis=None if axis is None else tuple(others))
    most = 2 ** (bits - 1) - 1
    scale = xp.where(largest == 0, xp.ones_like(largest), largest / most)
    return xp.asarray(scale, dtype=W.dtype)


def _largest_of_blocks(xp, magnitudes, axis, block_size):
    shape = list(magnitudes.shape)
    missing = -shape[axis] % block_size
    if missing:
        fill = xp.zeros((*shape[:axis], missing, *shape[axis + 1 :]), magnitudes.dtype)
        magnitudes = xp.concatenate([magnitudes, fill], axis=axis)
    blocks = (*shape[:axis], -1, block_size, *shape[axis + 1 :])
    return magnitudes.reshape(blocks).max(axis=axis + 1)


def integers_of(
    W: numpy.ndarray[Any, Any], scale: Any, bits: int, axis: int | None, block_size: int = 0
) -> numpy.ndarray[Any, Any]:
    """Integers of a weight, as int8."""
    if W.dtype.kind == 'V':  # bfloat16, whose quotients are too coarse to round
        W, scale = W.astype('f'), scale.astype('f')
    by = _functions.aligned(scale, W.shape, axis or 0, block_size)
    most = 2 ** (bits - 1) - 1
    return numpy.clip(numpy.rint(W / by), -most - 1, most).astype(numpy.int8)
