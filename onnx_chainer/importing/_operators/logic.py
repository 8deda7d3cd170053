"""Comparisons, logic and bits."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator, operators
from .elementwise import binary

operators(
    {
        'Equal': binary(lambda a, b: a == b),
        'Less': binary(lambda a, b: a < b),
        'Greater': binary(lambda a, b: a > b),
        'LessOrEqual': lambda a, b: a <= b,
        'GreaterOrEqual': lambda a, b: a >= b,
        'And': binary(lambda a, b: a & b),
        'Or': binary(lambda a, b: a | b),
        'Xor': binary(lambda a, b: a ^ b),
        'BitwiseAnd': lambda a, b: a & b,
        'BitwiseOr': lambda a, b: a | b,
        'BitwiseXor': lambda a, b: a ^ b,
        'Not BitwiseNot': lambda x: ~x,
        'IsNaN': lambda x: x != x,  # for any dtype
    },
    takes=ARRAYS,
)


@operator('BitShift', takes=ARRAYS)
def bit_shift(a, b, *, direction):
    # Shifting by all bits or more leaves none, or the sign.
    xp = v.xp_of(a)
    bits = a.dtype.itemsize * 8
    shift = xp.minimum(b, bits - 1).astype(a.dtype)
    shifted = a << shift if direction == 'LEFT' else a >> shift
    if direction == 'RIGHT' and a.dtype.kind == 'i':
        return shifted
    return xp.where(b >= bits, 0, shifted).astype(a.dtype)


@operator('IsInf', takes=ARRAYS)
def is_inf(x, *, detect_negative, detect_positive):
    infinity = x.dtype.type(np.inf)
    y = v.xp_of(x).zeros(x.shape, bool)
    if detect_positive:
        y |= x == infinity
    if detect_negative:
        y |= x == -infinity
    return y


operators(
    {'Where': lambda condition, x, y: F.where(*F.broadcast(v.array_of(condition), x, y))},
    any_dtype=True,
)
