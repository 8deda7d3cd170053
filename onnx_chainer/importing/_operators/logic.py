"""Comparisons, logic and bits."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator
from .elementwise import align


def _binary(names, function):
    @operator(*names, takes=ARRAYS)
    def binary(node, a, b, /, *, axis=None, broadcast=0):
        if broadcast and axis is not None:
            b = align(a, b, axis, broadcast).array
        return function(a, b)


_binary(['Equal'], lambda a, b: a == b)
_binary(['Less'], lambda a, b: a < b)
_binary(['Greater'], lambda a, b: a > b)
_binary(['LessOrEqual'], lambda a, b: a <= b)
_binary(['GreaterOrEqual'], lambda a, b: a >= b)
_binary(['And', 'BitwiseAnd'], lambda a, b: a & b)
_binary(['Or', 'BitwiseOr'], lambda a, b: a | b)
_binary(['Xor', 'BitwiseXor'], lambda a, b: a ^ b)


@operator('Not', 'BitwiseNot', takes=ARRAYS)
def invert(node, x, /):
    return ~x


@operator('BitShift', takes=ARRAYS)
def bit_shift(node, a, b, /, *, direction):
    # Shifting by all bits or more leaves none, or the sign.
    xp = v.xp_of(a)
    bits = a.dtype.itemsize * 8
    shift = xp.minimum(b, bits - 1).astype(a.dtype)
    shifted = a << shift if direction == 'LEFT' else a >> shift
    if direction == 'RIGHT' and a.dtype.kind == 'i':
        return shifted
    return xp.where(b >= bits, 0, shifted).astype(a.dtype)


@operator('IsNaN', takes=ARRAYS)
def is_nan(node, x, /):
    return x != x  # noqa: PLR0124  # for any dtype


@operator('IsInf', takes=ARRAYS)
def is_inf(node, x, /, *, detect_negative=1, detect_positive=1):
    infinity = x.dtype.type(np.inf)
    y = x != x  # noqa: PLR0124
    y[...] = False
    if detect_positive:
        y |= x == infinity
    if detect_negative:
        y |= x == -infinity
    return y


@operator('Where', any_dtype=True)
def where(node, condition, x, y, /):
    return F.where(*F.broadcast(v.array_of(condition), x, y))
