"""Arithmetic, comparisons, logic and functions of each element."""

from __future__ import annotations

import functools

import numpy as np

from chainer import functions as F
from onnx_chainer._elementwise import UNARY

from .. import _values as v
from ..registry import ARRAYS, VALUES, operator, operators


def arithmetic(differentiable, plain):
    """``differentiable`` for floats, ``plain`` for the arrays of other types."""

    def call(*xs):
        return differentiable(*xs) if v.is_float(xs[0]) else v.calling_arrays(plain, *xs)

    return call


def _divide_integers(a, b):
    """Quotients rounded towards zero."""
    is_above = (a % b != 0) & ((a < 0) != (b < 0))  # a quotient that is rounded down
    return v.xp_of(a).asarray(a // b + is_above, a.dtype)


def _binary(function):
    """The operator of a function of two arrays, whose last axes are aligned as in NumPy.

    Opsets below 7 may say an axis of the first array from which on it has the axes of the second.
    """

    def call(a, b, *, axis=None, broadcast=0):
        if broadcast and axis is not None:
            behind = a.ndim - axis % max(a.ndim, 1) - b.ndim
            b = b.reshape((*b.shape, *(1,) * behind))
        return function(a, b)

    return call


def _power(a, b):
    if not v.is_float(a):
        return v.calling_arrays(lambda x, y: (x**y).astype(x.dtype), a, b)
    if isinstance(b, np.ndarray) and b.size == 1 and b.ndim <= a.ndim:
        # The gradient of a constant exponent needs no logarithm.
        return F.identity(a) ** float(b.reshape(()))
    return F.identity(a) ** v.cast(b, a.dtype)


_fmod = arithmetic(F.fmod, v.array_function('fmod'))


@operator('Mod')
def mod(a, b, *, fmod):
    return _fmod(a, b) if fmod else v.calling_arrays(lambda x, y: x % y, a, b)


def _variadic(differentiable, plain):
    return lambda *xs: functools.reduce(arithmetic(differentiable, plain), xs)


_sum = _variadic(F.add, lambda a, b: a + b)


def _arcsinh(x):
    positive = F.absolute(x)
    square = F.square(positive)
    return F.log1p(positive + square / (1 + F.sqrt(square + 1))) * v.calling_arrays(
        lambda a: v.xp_of(a).copysign(1, a).astype(a.dtype), x
    )


operators(
    {
        'Add': _binary(arithmetic(F.add, lambda a, b: a + b)),
        'Sub': _binary(arithmetic(lambda a, b: F.identity(a) - b, lambda a, b: a - b)),
        'Mul': _binary(arithmetic(lambda a, b: F.identity(a) * b, lambda a, b: a * b)),
        'Div': _binary(arithmetic(lambda a, b: F.identity(a) / b, _divide_integers)),
        'Pow': _binary(_power),
        'Sum': _sum,
        'Max': _variadic(F.maximum, v.array_function('maximum')),
        'Min': _variadic(F.minimum, v.array_function('minimum')),
        'Mean': lambda *xs: F.identity(_sum(*xs)) / len(xs),
        'Abs': arithmetic(F.absolute, abs),
        'Neg': arithmetic(lambda x: -F.identity(x), lambda x: -x),
        'Sign': arithmetic(F.sign, v.array_function('sign')),
        'Reciprocal': lambda x: 1 / F.identity(x),
        'Asinh': _arcsinh,
        'Acosh': lambda x: F.log(x + F.sqrt(F.square(x) - 1)),
        **{op: getattr(F, function.lower()) for function, op in UNARY.items()},
    }
)
operators({'Identity': lambda x: (x,)}, takes=VALUES)
operators({'Round': v.array_function('rint')}, takes=ARRAYS)
operators({'Where': F.where}, any_dtype=True)


@operator('Clip', scalars=(1, 2))
def clip(x, low, high):
    if low is None and high is None:
        return F.identity(x) if v.is_float(x) else x
    if v.is_float(x):
        if low is not None and high is not None and low > high:
            low = high
        return F.clip(x, *(None if each is None else float(each) for each in (low, high)))
    return v.calling_arrays(lambda a: a.clip(low, high).astype(a.dtype), x)


# -- comparisons, logic and bits

operators(
    {
        'Equal': _binary(lambda a, b: a == b),
        'Less': _binary(lambda a, b: a < b),
        'Greater': _binary(lambda a, b: a > b),
        'LessOrEqual': lambda a, b: a <= b,
        'GreaterOrEqual': lambda a, b: a >= b,
        'And BitwiseAnd': _binary(lambda a, b: a & b),
        'Or BitwiseOr': _binary(lambda a, b: a | b),
        'Xor BitwiseXor': _binary(lambda a, b: a ^ b),
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
    return (x == infinity) & bool(detect_positive) | (x == -infinity) & bool(detect_negative)
