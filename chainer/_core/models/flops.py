"""Numbers of operations of functions, from the shapes of their inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.utils import conv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _linear(func: Any, x: Any, W: Any, *_: Any) -> int:
    return x.size * W.shape[0]


def _bilinear(func: Any, e1: Any, e2: Any, *others: Any) -> int:
    return e1.shape[0] * sum(x.size for x in others if x.ndim > 1)  # W, V1 and V2, but not b


def _convolution(func: Any, x: Any, W: Any, *_: Any) -> int:
    outs = [
        conv.get_conv_outsize(size, k, s, p, func.cover_all, d)
        for size, k, s, p, d in zip(
            x.shape[2:], W.shape[2:], func.stride, func.pad, func.dilate, strict=True
        )
    ]
    return x.shape[0] * math.prod(outs) * W.size


def _deconvolution(func: Any, x: Any, W: Any, *_: Any) -> int:
    return x.shape[0] * math.prod(x.shape[2:]) * W.size


def _local_convolution(func: Any, x: Any, W: Any, *_: Any) -> int:
    return x.shape[0] * W.size


def _matmul(func: Any, a: Any, b: Any) -> int:
    columns = 1 if b.ndim < 2 else b.shape[-2 if func.transb else -1]
    inner = a.shape[-2 if func.transa and a.ndim > 1 else -1]
    rows = 1 if a.ndim < 2 else a.shape[-1 if func.transa else -2]
    stack = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return math.prod(stack) * rows * inner * columns


def _batch_matmul(func: Any, *inputs: Any) -> int:
    # Vectors of a batch count as columns.
    return _matmul(func, *[x.reshape(*x.shape, 1) if x.ndim == 2 else x for x in inputs])


def _tensordot(func: Any, a: Any, b: Any) -> int:
    _, inner = func._contracted(a.ndim, b.ndim)
    return a.size * math.prod(n for i, n in enumerate(b.shape) if i not in inner)


def _einsum(func: Any, *xs: Any) -> int:
    lengths: dict[str, int] = {}
    for x, sub in zip(xs, func.in_subs.split(','), strict=True):
        for n, label in zip(x.shape, sub, strict=True):
            if lengths.get(label, 1) == 1:  # an axis of length one broadcasts
                lengths[label] = n
    return (len(xs) - 1) * math.prod(lengths.values())


def _attention(func: Any, q: Any, k: Any, v: Any, *_: Any) -> int:
    return q.size * k.shape[-2] + math.prod(q.shape[:-1]) * k.shape[-2] * v.shape[-1]


def _rnn(func: Any, *inputs: Any) -> int:
    # All steps of all sequences multiply each weight of each layer.
    x, *weights = inputs[func.n_states :]
    return x.shape[0] * sum(w.size for w in weights if w.ndim == 2)


# Multiplications with an addition each, by the names of classes of functions.
_PRODUCTS: dict[str, Callable[..., int]] = {
    'LinearFunction': _linear,
    'SimplifiedDropconnect': _linear,
    'BilinearFunction': _bilinear,
    'Convolution': _convolution,
    'Deconvolution': _deconvolution,
    'LocalConvolution2DFunction': _local_convolution,
    'MatMul': _matmul,
    'BatchMatMul': _batch_matmul,
    'TensorDot': _tensordot,
    'EinSum': _einsum,
    '_Fused': _attention,
    'BaseNStepRNN': _rnn,
}


def count(func: Any, in_data: Sequence[Any]) -> int:
    """Counts the operations of a matrix product or convolution; those of others are few."""
    for cls in type(func).__mro__:
        if cls.__name__ in _PRODUCTS and cls.__module__.startswith('chainer.functions.'):
            return 2 * _PRODUCTS[cls.__name__](func, *in_data)
    return 0
