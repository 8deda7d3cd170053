"""Kinds of rules that many functions share; see :mod:`chainer.transforms._rules`."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.function_node import FunctionNode
    from chainer.variable import Variable

    Outputs = Sequence[Variable] | None
    Rule = Callable[[Any, Sequence['Operand'], int], Outputs]


class Operand(NamedTuple):
    """An input of a function: a variable of all samples, or one that they share."""

    variable: Any
    is_mapped: bool

    @property
    def ndim(self) -> int:
        """Number of axes that the function sees."""
        return self.variable.ndim - self.is_mapped

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape that the function sees."""
        return self.variable.shape[self.is_mapped :]


def changed(func: FunctionNode, **attributes: Any) -> FunctionNode:
    """Copy of a function before its call, with other attributes."""
    node = copy.copy(func)
    node.__dict__.update(attributes)
    return node


def repeated(x: Operand, size: int) -> Variable:
    """All samples of an operand, equal ones if they share it."""
    return x.variable if x.is_mapped else broadcast_to(x.variable, (size, *x.shape))


def aligned(operands: Sequence[Operand], size: int) -> list[Variable]:
    """Operands that broadcast with each other as those of one sample do."""
    ndim = max([x.ndim for x in operands])
    return [
        reshape(x.variable, (size, *(1,) * (ndim - x.ndim), *x.shape))
        if x.is_mapped
        else x.variable
        for x in operands
    ]


def elementwise(func: FunctionNode, operands: Sequence[Operand], size: int) -> Outputs:
    """Elementwise functions, with broadcasting."""
    return func.apply(tuple(aligned(operands, size)))


def alike(func: FunctionNode, operands: Sequence[Operand], size: int) -> Outputs:
    """Elementwise functions of arrays of one shape."""
    return func.apply(tuple([repeated(x, size) for x in operands]))


def along(*names: str) -> Rule:
    """Functions along axes, which attributes name."""

    def rule(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
        axes = {name: _next_axis(getattr(func, name)) for name in names}
        return changed(func, **axes).apply(tuple([repeated(x, size) for x in operands]))

    return rule


def _next_axis(axis: Any) -> Any:
    """Axis of all samples for an axis of one."""
    if isinstance(axis, tuple):
        return tuple([_next_axis(a) for a in axis])
    return axis if axis < 0 else axis + 1


def over_all_or_along(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    """Reductions, where an axis of ``None`` means all axes."""
    (x,) = operands
    axis = tuple(range(x.ndim)) if func.axis is None else func.axis
    if axis == ():
        return None
    return changed(func, axis=_next_axis(axis)).apply((x.variable,))


def flat_or_along(func: Any, operands: Sequence[Operand], size: int) -> Outputs:
    """Functions along one axis, where ``None`` means that of the flattened array."""
    (x,) = operands
    if func.axis is not None:
        return changed(func, axis=_next_axis(func.axis)).apply((x.variable,))
    flat = reshape(x.variable, (size, math.prod(x.shape)))
    return changed(func, axis=1).apply((flat,))


def by_rows(n_rowwise: int | None = None) -> Rule:
    """Functions that treat the rows of their first inputs alike, as those of minibatches do.

    The samples of a minibatch and those that are mapped become one longer minibatch.

    Args:
        n_rowwise (int or None): Number of inputs with rows (``None``: all); the function has to
            use the others in all rows, so that they must not be mapped.

    """

    def rule(func: FunctionNode, operands: Sequence[Operand], size: int) -> Outputs:
        rowwise, shared = operands[:n_rowwise], operands[len(operands[:n_rowwise]) :]
        lengths = {x.shape[:1] for x in rowwise}
        if len(lengths) != 1 or lengths == {()} or any(x.is_mapped for x in shared):
            return None
        ((length,),) = lengths
        merged = [reshape(repeated(x, size), (size * length, *x.shape[1:])) for x in rowwise]
        ys = func.apply((*merged, *[x.variable for x in shared]))
        return [reshape(y, (size, length, *y.shape[1:])) for y in ys]

    return rule
