"""Rules of functions that change shapes and of indexing; see :mod:`chainer.transforms._rules`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import functions as F
from chainer._core.autograd.batched_array import BatchedArray
from chainer.functions.array.get_item import GetItem
from chainer.transforms._kinds import Operand, aligned, changed, repeated
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.transforms._kinds import Outputs


def reshape(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    known = math.prod([n for n in func.shape if n >= 0])
    total = math.prod(x.shape)
    if -1 in func.shape and (known == 0 or total % known):
        return None
    shape = [total // known if n < 0 else n for n in func.shape]
    if math.prod(shape) != total:
        return None  # for the message of the function
    return (F.reshape(x.variable, (size, *shape)),)


def transpose(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    axes = tuple(range(x.ndim))[::-1] if func.axes is None else func.axes
    if len(axes) != x.ndim:
        return None
    return (F.transpose(x.variable, (0, *[a % x.ndim + 1 for a in axes])),)


def broadcast_to(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    shape = func._shape
    if len(shape) < x.ndim:
        return None
    y = F.reshape(x.variable, (size, *(1,) * (len(shape) - x.ndim), *x.shape))
    return (F.broadcast_to(y, (size, *shape)),)


def broadcast(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    shape = numpy.broadcast_shapes(*[x.shape for x in operands])
    ndim = len(shape)
    return [
        F.broadcast_to(
            F.reshape(repeated(x, size), (size, *(1,) * (ndim - x.ndim), *x.shape)), (size, *shape)
        )
        for x in operands
    ]


def sum_to(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    shape = func._shape
    y = F.sum_to(x.variable, (size, *(1,) * (x.ndim - len(shape)), *shape))
    return (F.reshape(y, (size, *shape)),)


def squeeze(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    axes = func.axis
    if axes is None:
        axes = [i for i, n in enumerate(x.shape) if n == 1]
    axes = tuple([a if a < 0 else a + 1 for a in axes])
    return changed(func, axis=axes).apply((x.variable,)) if axes else (x.variable,)


def flip_up_down(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    return (F.flip(operands[0].variable, 1),)


def flip_left_right(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    return (F.flip(operands[0].variable, 2),)


def stacking(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    xs = [repeated(x, size) for x in operands]
    ndims = {x.ndim for x in operands}
    if len(ndims) != 1:
        return None
    (ndim,) = ndims
    axis = func.axis(ndim)
    if ndim < func.min_ndim:
        # The joined axis and those that are missing have length one.
        shape = operands[0].shape
        shape = (((1, 1, 1), (1, *shape, 1), (*shape, 1))[ndim])[: func.min_ndim]
        xs = [F.reshape(x, (size, *shape)) for x in xs]
    return (F.concat(xs, axis + 1),)


def where(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    condition = func.condition
    array = condition._array if isinstance(condition, Variable) else condition
    is_mapped = isinstance(array, BatchedArray)
    mapped = Operand(array.variable if is_mapped else as_variable(condition), is_mapped)
    condition, *xs = aligned([mapped, *operands], size)
    if not any(x.is_mapped for x in operands):
        xs[0] = F.broadcast_to(xs[0], (size, *numpy.broadcast_shapes(*[x.shape for x in operands])))
    return changed(func, condition=condition.array).apply(tuple(xs))


def tile(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    reps = (1,) * (x.ndim - len(func.reps)) + func.reps
    y = F.reshape(x.variable, (size, *(1,) * (len(reps) - x.ndim), *x.shape))
    return (F.tile(y, (1, *reps)),)


def pad(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    widths = numpy.broadcast_to(numpy.asarray(func.pad_width), (x.ndim, 2)).tolist()
    if numpy.ndim(func.keywords.get('constant_values', 0)):
        return None
    return changed(func, pad_width=((0, 0), *map(tuple, widths))).apply((x.variable,))


def get_item(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    (x,) = operands
    if not _keeps_its_place(func.slices):
        return None
    return GetItem((slice(None), *func.slices)).apply((x.variable,))


def _keeps_its_place(slices: Sequence[Any]) -> bool:
    """Whether the result of an index is the same behind another axis.

    That of index arrays moves to the front where slices stand between them.
    """
    advanced = []
    for i, s in enumerate(slices):
        if s is True or s is False:
            return False
        if isinstance(s, (list, numpy.ndarray)) or (hasattr(s, 'shape') and hasattr(s, 'dtype')):
            if isinstance(s, BatchedArray):
                return False
            advanced.append(i)
    if not advanced:
        return True
    integers = [i for i, s in enumerate(slices) if isinstance(s, (int, numpy.integer))]
    places = sorted(advanced + integers)
    return places == list(range(places[0], places[-1] + 1))
