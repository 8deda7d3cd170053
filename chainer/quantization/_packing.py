"""Integers of few bits in bytes, the first ones in the lowest bits, as in ONNX."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray

#: Bits of integers that can be packed, and whether they have a sign.
DTYPES = {f'{sign}int{bits}': (bits, not sign) for bits in (2, 4, 8) for sign in ('', 'u')}


def pack(q: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Packs integers from -8 to 7 of any shape into a vector of uint8."""
    halves = numpy.append(q.ravel(), numpy.zeros(q.size % 2, q.dtype)).astype(numpy.uint8) & 15
    return halves[::2] | halves[1::2] << 4


def unpack(packed: NdArray, shape: Sequence[int]) -> Any:
    """Integers from -8 to 7, as int8, of what :func:`pack` made of an array of this shape."""
    return unpack_rows(packed[None], 'int4', math.prod(shape)).astype(numpy.int8).reshape(shape)


def unpack_rows(rows: NdArray, dtype: str, count: int) -> Any:
    """The first integers of each row of bytes, as int32.

    Args:
        rows: Bytes, a matrix.
        dtype: Dtype of the integers, one of :data:`DTYPES`.
        count: Integers of a row.

    """
    xp = backend.get_array_module(rows)
    bits, is_signed = DTYPES[dtype]
    wide: Any = rows.astype(numpy.int32)  # ChainerX has the operators of bits for it
    parts = [wide >> shift & 2**bits - 1 for shift in range(0, 8, bits)]
    q: Any = xp.stack(parts, axis=2).reshape(len(rows), -1)[:, :count]
    half = 2 ** (bits - 1)
    return (q ^ half) - half if is_signed else q
