"""Arithmetic and functions of each element."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, VALUES, operator


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


def _binary(name, differentiable, plain):
    @operator(name)
    def binary(node, a, b, /, *, axis=None, broadcast=0, consumed_inputs=None):
        return arithmetic(differentiable, plain, a, align(a, b, axis, broadcast))


_binary('Add', F.add, lambda a, b: a + b)
_binary('Sub', lambda a, b: F.identity(a) - b, lambda a, b: a - b)
_binary('Mul', lambda a, b: F.identity(a) * b, lambda a, b: a * b)
_binary('Div', lambda a, b: F.identity(a) / b, divide_integers)


@operator('Pow')
def power(node, a, b, /, *, axis=None, broadcast=0):
    b = align(a, b, axis, broadcast)
    if not v.is_float(a):
        return v.calling_arrays(lambda x, y: (x**y).astype(x.dtype), a, b)
    if isinstance(b, np.ndarray) and b.size == 1 and b.ndim <= a.ndim:
        # The gradient of a constant exponent needs no logarithm.
        return F.identity(a) ** float(b.reshape(()))
    return F.identity(a) ** v.cast(b, a.dtype)


@operator('Mod')
def mod(node, a, b, /, *, fmod=0):
    if not fmod:
        return v.calling_arrays(lambda x, y: x % y, a, b)
    if v.is_float(a):
        a, b = F.broadcast(a, b)
        return F.fmod(a, b)
    return v.calling_arrays(lambda x, y: v.xp_of(x).fmod(x, y), a, b)


def _variadic(name, differentiable, plain):
    @operator(name)
    def variadic(node, first, /, *rest, consumed_inputs=None):
        y = first
        for x in rest:
            y = arithmetic(differentiable, plain, y, x)
        return y


def _broadcasting(function):
    return lambda a, b: function(*F.broadcast(a, b))


def _module_function(name):
    return lambda *xs: getattr(v.xp_of(*xs), name)(*xs)


_variadic('Sum', F.add, lambda a, b: a + b)
_variadic('Max', _broadcasting(F.maximum), _module_function('maximum'))
_variadic('Min', _broadcasting(F.minimum), _module_function('minimum'))


@operator('Mean')
def mean(node, first, /, *rest, consumed_inputs=None):
    y = first
    for x in rest:
        y = F.add(y, x)
    return F.identity(y) / (1 + len(rest))


def _arcsinh(x):
    positive = F.absolute(x)
    square = F.square(positive)
    return F.log1p(positive + square / (1 + F.sqrt(square + 1))) * v.calling_arrays(
        lambda a: v.xp_of(a).copysign(1, a).astype(a.dtype), x
    )


def _unary(name, differentiable, plain=None):
    @operator(name)
    def unary(node, x, /, *, consumed_inputs=None):
        if plain is None:
            return differentiable(x)
        return arithmetic(differentiable, plain, x)


_unary('Abs', F.absolute, abs)
_unary('Neg', lambda x: -F.identity(x), lambda x: -x)
_unary('Sign', F.sign, _module_function('sign'))
_unary('Floor', F.floor)
_unary('Ceil', F.ceil)
_unary('Exp', F.exp)
_unary('Log', F.log)
_unary('Sqrt', F.sqrt)
_unary('Reciprocal', lambda x: 1 / F.identity(x))
_unary('Sin', F.sin)
_unary('Cos', F.cos)
_unary('Tan', F.tan)
_unary('Asin', F.arcsin)
_unary('Acos', F.arccos)
_unary('Atan', F.arctan)
_unary('Sinh', F.sinh)
_unary('Cosh', F.cosh)
_unary('Asinh', _arcsinh)
_unary('Acosh', lambda x: F.log(x + F.sqrt(F.square(x) - 1)))
_unary('Atanh', F.arctanh)
_unary('Erf', F.erf)


@operator('Identity', takes=VALUES)
def identity(node, x, /):
    return (x,)


@operator('Round', takes=ARRAYS)
def round_half_even(node, x, /):
    return v.xp_of(x).rint(x)


@operator('Clip', host=(1, 2))
def clip(node, x, least=None, most=None, /, *, min=None, max=None, consumed_inputs=None):
    least = min if least is None else least
    most = max if most is None else most
    if v.is_float(x):
        low = None if least is None else float(least)
        high = None if most is None else float(most)
        if low is None and high is None:
            return F.identity(x)
        if low is not None and high is not None and low > high:
            return F.clip(x, high, high)
        return F.clip(x, low, high)
    if least is None and most is None:
        return x
    low, high = (None if each is None else v.scalar(each) for each in (least, most))
    return v.calling_arrays(lambda a: a.clip(low, high).astype(a.dtype), x)
