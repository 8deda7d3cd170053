"""Arithmetic and functions of each element."""

from __future__ import annotations

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
    return F.reshape(b, (*b.shape, *(1,) * (a.ndim - axis - b.ndim)))


def _binary(differentiable, plain):
    def call(a, b, *, axis, broadcast):
        return arithmetic(differentiable, plain, a, align(a, b, axis, broadcast))

    return call


operators(
    {
        'Add': _binary(F.add, lambda a, b: a + b),
        'Sub': _binary(lambda a, b: F.identity(a) - b, lambda a, b: a - b),
        'Mul': _binary(lambda a, b: F.identity(a) * b, lambda a, b: a * b),
        'Div': _binary(lambda a, b: F.identity(a) / b, divide_integers),
    }
)


@operator('Pow')
def power(a, b, *, axis, broadcast):
    b = align(a, b, axis, broadcast)
    if not v.is_float(a):
        return v.calling_arrays(lambda x, y: (x**y).astype(x.dtype), a, b)
    if isinstance(b, np.ndarray) and b.size == 1 and b.ndim <= a.ndim:
        # The gradient of a constant exponent needs no logarithm.
        return F.identity(a) ** float(b.reshape(()))
    return F.identity(a) ** v.cast(b, a.dtype)


@operator('Mod')
def mod(a, b, *, fmod):
    if not fmod:
        return v.calling_arrays(lambda x, y: x % y, a, b)
    if v.is_float(a):
        a, b = F.broadcast(a, b)
        return F.fmod(a, b)
    return v.calling_arrays(lambda x, y: v.xp_of(x).fmod(x, y), a, b)


def _module_function(name):
    return lambda *xs: getattr(v.xp_of(*xs), name)(*xs)


def _variadic(differentiable, plain):
    def call(first, *rest):
        y = first
        for x in rest:
            y = arithmetic(differentiable, plain, y, x)
        return y

    return call


def _extreme(name):
    function = getattr(F, name)
    return _variadic(lambda a, b: function(*F.broadcast(a, b)), _module_function(name))


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


def _unary(differentiable, plain):
    return lambda x: arithmetic(differentiable, plain, x)


operators(
    {
        'Abs': _unary(F.absolute, abs),
        'Neg': _unary(lambda x: -F.identity(x), lambda x: -x),
        'Sign': _unary(F.sign, _module_function('sign')),
        'Reciprocal': lambda x: 1 / F.identity(x),
        'Asinh': _arcsinh,
        'Acosh': lambda x: F.log(x + F.sqrt(F.square(x) - 1)),
    }
)
operators({op: getattr(F, function.lower()) for function, op in UNARY.items()})
operators({'Identity': lambda x: (x,)}, takes=VALUES)
operators({'Round': lambda x: v.xp_of(x).rint(x)}, takes=ARRAYS)


@operator('Clip', host=(1, 2))
def clip(x, least, most):
    if v.is_float(x):
        low = None if least is None else float(v.scalar(least))
        high = None if most is None else float(v.scalar(most))
        if low is None and high is None:
            return F.identity(x)
        if low is not None and high is not None and low > high:
            return F.clip(x, high, high)
        return F.clip(x, low, high)
    if least is None and most is None:
        return x
    low, high = (None if each is None else v.scalar(each) for each in (least, most))
    return v.calling_arrays(lambda a: a.clip(low, high).astype(a.dtype), x)
