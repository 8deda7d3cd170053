"""Arithmetic, comparisons, logic and functions of each element."""

from __future__ import annotations

import functools

import numpy as np

from chainer import functions as F
from onnx_chainer._elementwise import UNARY

from .. import _values as v
from ..registry import ARRAYS, VALUES, operator, operators


def arithmetic(differentiable, plain, *xs):
    """``differentiable`` for floats, ``plain`` for the arrays of other types."""
    if v.is_float(xs[0]):
        return differentiable(*xs)
    return v.calling_arrays(plain, *xs)


def divide_integers(a, b):
    """Quotients rounded towards zero."""
    xp = v.xp_of(a)
    quotient = a // b
    if a.dtype.kind != 'u':
        quotient = quotient + ((a % b != 0) & ((a < 0) != (b < 0)))
    return xp.asarray(quotient, a.dtype)


def align(a, b, axis, broadcast):
    """``b`` with ones behind its shape so that its axes are those of ``a`` from ``axis`` on.

    Opsets below 7 say so; without an axis, the last axes are aligned, as in NumPy.
    """
    if not broadcast or axis is None:
        return b
    axis %= max(a.ndim, 1)
    return b.reshape((*b.shape, *(1,) * (a.ndim - axis - b.ndim)))


def binary(function):
    """The operator of a function of two arrays, which opsets below 7 align by attributes."""
    return lambda a, b, *, axis, broadcast: function(a, align(a, b, axis, broadcast))


def _power(a, b):
    if not v.is_float(a):
        return v.calling_arrays(lambda x, y: (x**y).astype(x.dtype), a, b)
    if isinstance(b, np.ndarray) and b.size == 1 and b.ndim <= a.ndim:
        # The gradient of a constant exponent needs no logarithm.
        return F.identity(a) ** float(b.reshape(()))
    return F.identity(a) ** v.cast(b, a.dtype)


def _arithmetic(differentiable, plain):
    return functools.partial(arithmetic, differentiable, plain)


operators(
    {
        'Add': binary(_arithmetic(F.add, lambda a, b: a + b)),
        'Sub': binary(_arithmetic(lambda a, b: F.identity(a) - b, lambda a, b: a - b)),
        'Mul': binary(_arithmetic(lambda a, b: F.identity(a) * b, lambda a, b: a * b)),
        'Div': binary(_arithmetic(lambda a, b: F.identity(a) / b, divide_integers)),
        'Pow': binary(_power),
        'Abs': _arithmetic(F.absolute, abs),
        'Neg': _arithmetic(lambda x: -F.identity(x), lambda x: -x),
        'Sign': _arithmetic(F.sign, v.array_function('sign')),
    }
)


@operator('Mod')
def mod(a, b, *, fmod):
    if not fmod:
        return v.calling_arrays(lambda x, y: x % y, a, b)
    if v.is_float(a):
        a, b = F.broadcast(a, b)
        return F.fmod(a, b)
    return v.array_function('fmod')(a, b)


def _variadic(differentiable, plain):
    return lambda *xs: functools.reduce(_arithmetic(differentiable, plain), xs)


def _extreme(name):
    function = getattr(F, name)
    return _variadic(lambda a, b: function(*F.broadcast(a, b)), v.array_function(name))


_sum = _variadic(F.add, lambda a, b: a + b)
operators(
    {
        'Sum': _sum,
        'Max': _extreme('maximum'),
        'Min': _extreme('minimum'),
        'Mean': lambda *xs: F.identity(_sum(*xs)) / len(xs),
    }
)


def _arcsinh(x):
    positive = F.absolute(x)
    square = F.square(positive)
    return F.log1p(positive + square / (1 + F.sqrt(square + 1))) * v.calling_arrays(
        lambda a: v.xp_of(a).copysign(1, a).astype(a.dtype), x
    )


operators(
    {
        'Reciprocal': lambda x: 1 / F.identity(x),
        'Asinh': _arcsinh,
        'Acosh': lambda x: F.log(x + F.sqrt(F.square(x) - 1)),
    }
)
operators({op: getattr(F, function.lower()) for function, op in UNARY.items()})
operators({'Identity': lambda x: (x,)}, takes=VALUES)
operators({'Round': v.array_function('rint')}, takes=ARRAYS)


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
