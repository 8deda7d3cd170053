"""Rules of products, convolutions and losses; see :mod:`chainer.transforms._rules`."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, functions as F
from chainer.functions.array.cast import cast
from chainer.functions.loss.absolute_error import AbsoluteError
from chainer.functions.loss.squared_error import SquaredError
from chainer.functions.math.inv import BatchInv
from chainer.transforms._kinds import Operand, aligned, by_rows, changed, repeated
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.transforms._kinds import Outputs, Rule

_first_by_rows = by_rows(1)


def matmul(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    a, b = operands
    if func.transc or (a.ndim == 1 and b.ndim == 1):
        return None if func.transc else _inner(operands, size, func)
    # Vectors become matrices.
    a_row, b_column = a.ndim == 1, b.ndim == 1
    if a_row:
        a = a._replace(variable=F.expand_dims(a.variable, -2))
    if b_column:
        b = b._replace(variable=F.expand_dims(b.variable, -1))
    node = changed(func, transa=func.transa and not a_row, transb=func.transb and not b_column)
    (y,) = node.apply(tuple(aligned([a, b], size)))
    return (F.squeeze(y, -2 if a_row else -1) if a_row or b_column else y,)


def _inner(operands: Sequence[Operand], size: int, func: Any) -> Outputs:
    a, b = [repeated(x, size) for x in operands]
    node = changed(func, transa=False, transb=False)
    (y,) = node.apply((F.expand_dims(a, 1), F.expand_dims(b, 2)))
    return (F.reshape(y, (size,)),)


def linear(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    x, W = operands[:2]
    if not any(other.is_mapped for other in operands[1:]):
        return _first_by_rows(func, operands, size)
    y = F.matmul(repeated(x, size), W.variable, transb=True)
    y = cast(y, x.variable.dtype)
    for b in operands[2:]:
        y = y + F.broadcast_to(F.expand_dims(b.variable, -2), y.shape)
    return (y,)


def convolution(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    """Weights of samples are those of groups of channels."""
    if not any(other.is_mapped for other in operands[1:]):
        return _first_by_rows(func, operands, size)
    x, W, *b = [repeated(operand, size) for operand in operands]
    length, channels = x.shape[1:3]
    x = F.reshape(F.swapaxes(x, 0, 1), (length, size * channels, *x.shape[3:]))
    W, *b = [F.reshape(w, (size * w.shape[1], *w.shape[2:])) for w in (W, *b)]
    (y,) = changed(func, groups=func.groups * size).apply((x, W, *b))
    y = F.reshape(y, (length, size, y.shape[1] // size, *y.shape[2:]))
    return (F.swapaxes(y, 0, 1),)


def normalization(channel_axis: int) -> Rule:
    """Normalizations of rows; scales and shifts of samples come after those of none.

    Args:
        channel_axis (int): Axis that they belong to, of arrays with the axis of samples.

    """

    def rule(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
        x, *parameters = operands
        if not any(p.is_mapped for p in parameters):
            return _first_by_rows(func, operands, size)
        plain = [Operand(_full(p, value), False) for p, value in zip(parameters, (1, 0))]
        ys = _first_by_rows(func, [x, *plain], size)
        if ys is None:
            return None
        (y,) = ys
        shape = [1] * y.ndim
        shape[0], shape[channel_axis] = size, y.shape[channel_axis]
        gamma, *beta = [cast(F.reshape(repeated(p, size), shape), y.dtype) for p in parameters]
        y = y * F.broadcast_to(gamma, y.shape)
        return [y + F.broadcast_to(b, y.shape) for b in beta] or [y]

    return rule


def _full(like: Operand, value: float) -> Any:
    device = like.variable.device
    with backend.using_device(device):
        return as_variable(device.xp.full(like.shape, value, like.variable.dtype))


def einsum(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    subs = func.in_subs.split(',')
    unused = [c for c in string.ascii_letters if c not in func.in_subs]
    if len(subs) != len(operands) or not unused:
        return None
    label = unused[0]
    subs = [label * x.is_mapped + s for s, x in zip(subs, operands)]
    node = changed(func, in_subs=','.join(subs), out_sub=label + func.out_sub)
    return node.apply(tuple([x.variable for x in operands]))


def embed_id(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    x, W = operands
    if not W.is_mapped:
        return func.apply((x.variable, W.variable))
    if func.ignore_label is not None:
        return None
    length, width = W.shape
    ids = repeated(x, size)
    offsets = numpy.arange(size, dtype=ids.dtype).reshape(size, *(1,) * x.ndim) * length
    first = as_variable(ids.device.send(offsets))
    rows = F.reshape(W.variable, (size * length, width))
    return func.apply((_sum_of_integers(ids, first), rows))


def _sum_of_integers(a: Any, b: Any) -> Any:
    with backend.using_device(a.device):
        return as_variable(a.array + b.array)


def inv(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    return BatchInv().apply((operands[0].variable,))


def mean_error(elementwise_class: Any) -> Any:
    """Means of elementwise losses."""

    def rule(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
        (errors,) = elementwise_class().apply(tuple([repeated(x, size) for x in operands]))
        return (F.mean(F.reshape(errors, (size, -1)), axis=1),)

    return rule


mean_squared_error = mean_error(SquaredError)
mean_absolute_error = mean_error(AbsoluteError)
_all_by_rows = by_rows()


def accuracy(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    if func.ignore_label is not None or operands[0].ndim < 2 or 0 in operands[1].shape:
        return None
    y, t = [repeated(x, size) for x in operands]
    with backend.using_device(y.device):
        right = y.array.argmax(axis=2).reshape(t.shape) == t.array
        return (as_variable(right.reshape(size, -1).astype(y.dtype).mean(axis=1)),)


def softmax_cross_entropy(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    x, t = operands
    if 0 in x.shape:
        return None
    losses = _all_by_rows(changed(func, reduce='no'), operands, size)
    if losses is None or func.reduce == 'no':
        return losses
    (loss,) = losses
    total = F.sum(F.reshape(loss, (size, -1)), axis=1)
    count = loss.size // size
    if t.variable.dtype.kind in 'iu':
        if not func.normalize:
            count = x.shape[0]
        elif func.ignore_label is not None:
            return (total / _counts(t, func.ignore_label, size, total),)
    return (total / max(count, 1),)


def _counts(t: Operand, ignore_label: int, size: int, like: Any) -> Any:
    """Numbers of labels that count, at least one."""
    labels = repeated(t, size)
    with backend.using_device(labels.device):
        used = (labels.array != ignore_label).reshape(size, -1).astype(like.dtype)
        counts = used.sum(axis=1)
        return as_variable(counts + (counts == 0).astype(like.dtype))
