"""Products of matrices."""

from __future__ import annotations

from chainer import functions as F

from .. import _values as v
from ..registry import operator


@operator('MatMul')
def matmul(a, b):
    if not v.is_float(a):
        return v.array_function('matmul')(a, b)
    if a.ndim <= 2 and b.ndim <= 2 or a.ndim == b.ndim and a.shape[:-2] == b.shape[:-2]:
        return F.matmul(a, b)
    if a.ndim == 1:
        return F.squeeze(_stacked(F.expand_dims(a, 0), b), -2)
    if b.ndim == 1:
        return F.squeeze(_stacked(a, F.expand_dims(b, 1)), -1)
    return _stacked(a, b)


def _stacked(a, b):
    """Products of stacks of matrices whose shapes are broadcast."""
    if b.ndim == 2 and a.size:
        # One large product is faster than a stack of small ones.
        y = F.matmul(F.reshape(a, (-1, a.shape[-1])), b)
        return F.reshape(y, (*a.shape[:-1], b.shape[-1]))
    ndim = max(a.ndim, b.ndim)
    a = F.reshape(a, (1,) * (ndim - a.ndim) + a.shape)
    b = F.reshape(b, (1,) * (ndim - b.ndim) + b.shape)
    stack = [m if n == 1 else n for m, n in zip(a.shape[:-2], b.shape[:-2])]
    a, b = (F.broadcast_to(each, (*stack, *each.shape[-2:])) for each in (a, b))
    return F.matmul(a, b)


@operator('Gemm')
def gemm(a, b, c, *, alpha, beta, transA, transB):
    dtype = a.dtype if v.is_float(a) else 'i8'
    if not v.is_float(a):
        a, b = (v.cast(x, 'd') for x in (a, b))
    if c is not None and transB and not transA and alpha == beta == 1 and c.shape == b.shape[:1]:
        return v.cast(F.linear(a, b, c), dtype)
    y = F.matmul(a, b, transa=bool(transA), transb=bool(transB))
    if alpha != 1:
        y = alpha * y
    if c is not None and beta != 0:
        y = y + (c if beta == 1 else beta * F.identity(c))
    return v.cast(y, dtype)


@operator('Einsum')
def einsum(*xs, equation):
    equation = equation.replace(' ', '')
    if v.is_float(xs[0]):
        return F.einsum(equation, *xs)
    return v.calling_arrays(lambda *arrays: v.xp_of(*arrays).einsum(equation, *arrays), *xs)


@operator('Det')
def det(x):
    stack = x.shape[:-2]
    if not stack:
        return F.det(x)
    return F.reshape(F.batch_det(F.reshape(x, (-1, *x.shape[-2:]))), stack)
