"""Two integers of four bits in a byte, the first one in the lower half, as in ONNX."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray


def pack(q: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Packs integers from -8 to 7 of any shape into a vector of uint8."""
    halves = numpy.append(q.ravel(), numpy.zeros(q.size % 2, q.dtype)).astype(numpy.uint8) & 15
    return halves[::2] | halves[1::2] << 4


def unpack(packed: NdArray, shape: Sequence[int]) -> Any:
    """Integers from -8 to 7, as int8, of what :func:`pack` made of an array of this shape."""
    xp = backend.get_array_module(packed)
    wide: Any = packed.astype(numpy.int32)  # ChainerX has the operators of bits for it
    halves = xp.stack([wide & 15, wide >> 4], axis=1).ravel()
    return ((halves[: math.prod(shape)] ^ 8) - 8).astype(numpy.int8).reshape(shape)
