"""Elementwise loops of means: those of ChainerX's core, or NumPy's where it is not built."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.backends import cuda
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Elements that stay in the cache from one loop to the next.
BLOCK = 1 << 15
# Upper half of the bits of a float32, in its memory
_UPPER = 1 if sys.byteorder == 'little' else 0
#: Whether loops run in ChainerX's core.
HAS_CORE = chainerx.is_available()


def encode(array: Any, wire: str, out: Any = None) -> Any:
    """Rounds flat arrays of NumPy and CuPy.

    Args:
        array: Array of float32.
        wire: ``'float16'`` or ``'bfloat16'``.
        out: Array of uint16 for the result, if there is one.

    Returns:
        The bits of the rounded numbers as uint16.

    """
    xp = cuda.get_array_module(array)
    if out is None:
        out = xp.empty(array.size, numpy.uint16)
    if HAS_CORE and xp is numpy:
        _internal.to_half(array, out, wire == 'bfloat16')
    elif wire == 'float16':
        out.view(numpy.float16)[...] = array
    else:
        step = BLOCK if xp is numpy else max(array.size, 1)
        for start in range(0, array.size, step):
            block = slice(start, start + step)
            _to_bfloat16(array[block], out[block])
    return out


def _to_bfloat16(part: Any, out: Any) -> None:
    bits = part.view(numpy.uint32)
    rounded = bits >> numpy.uint32(16)
    rounded &= numpy.uint32(1)  # ties go to even numbers
    rounded += numpy.uint32(0x7FFF)
    rounded += bits
    # Rounding would turn some not-a-numbers into numbers. Their sign stays, as in the core.
    is_nan = part != part
    rounded[is_nan] = bits[is_nan] & numpy.uint32(0x80000000) | numpy.uint32(0x7FC00000)
    out[...] = rounded.view(numpy.uint16)[_UPPER::2]


def decode(bits: Any, wire: str, out: Any = None) -> Any:
    """Inverse of :func:`encode`; returns float32."""
    xp = cuda.get_array_module(bits)
    if out is None:
        out = xp.empty(bits.size, numpy.float32)
    if HAS_CORE and xp is numpy:
        _internal.from_half(bits, out, wire == 'bfloat16')
    elif wire == 'float16':
        out[...] = bits.view(numpy.float16)
    else:
        words = out.view(numpy.uint16)
        words[1 - _UPPER :: 2] = 0
        words[_UPPER::2] = bits
    return out


def mean(sources: Sequence[Any], results: Sequence[Any]) -> None:
    """Writes the mean of flat NumPy arrays to others, which may be the same ones.

    Args:
        sources: Arrays to add in this order, of one floating point dtype.
        results: Arrays to write to.

    """
    if HAS_CORE and sources[0].dtype == numpy.float32:
        _internal.mean(sources, results)
        return
    # A product with the reciprocal, as in the core, so that ranks with and without it agree.
    scale = sources[0].dtype.type(1 / len(sources))
    for start in range(0, sources[0].size, BLOCK):
        block = slice(start, start + BLOCK)
        total = sources[0][block].copy()
        for source in sources[1:]:
            total += source[block]
        total *= scale
        for result in results:
            result[block] = total
