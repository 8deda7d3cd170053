"""Products of matrices, and attention, which is made of them."""

from __future__ import annotations

from chainer import functions as F

from .. import _values as v
from ..registry import operator


@operator('MatMul')
def matmul(a, b):
    if not v.is_float(a):
        return v.array_function('matmul')(a, b)
    if a.ndim > 2 and b.ndim <= 2 and a.size:
        # One large product is faster than a stack of small ones.
        y = F.matmul(F.reshape(a, (-1, a.shape[-1])), b)
        return F.reshape(y, (*a.shape[:-1], *b.shape[1:]))
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
    return F.reshape(F.batch_det(F.reshape(x, (-1, *x.shape[-2:]))), stack) if stack else F.det(x)


@operator('Attention', partial=True)
def attention(
    node, query, key, value, mask, past_key, past_value, lengths, *, is_causal, scale, softcap,
    softmax_precision, left_window_size, right_window_size,
):  # fmt: skip
    """The attention of heads to all keys before them or in a mask, which Chainer has, too."""
    beside = node.has(4) or node.has(6) or any(map(node.wants, (1, 2, 3)))
    changed = softcap or softmax_precision is not None
    windowed = left_window_size >= 0 or right_window_size >= 0
    if beside or changed or windowed or query.ndim != 4 or query.shape[1] != key.shape[1]:
        return NotImplemented
    if mask is not None and (is_causal or mask.shape[-1:] != key.shape[2:3]):
        return NotImplemented
    causal = bool(is_causal)
    return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, scale=scale)
