"""Removal of axes."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from chainer.functions import _arguments
from chainer.functions.array._views import View
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import Axis, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def argone(iterable: Iterable[int]) -> list[int]:
    """Returns the indexes of ones in a sequence of ints.

    Args:
        iterable (iterable of int): Sequence, such as a shape.

    Returns:
        list of int: Indexes.

    Raises:
        ValueError: If an element is not an int.

    .. admonition:: Example

        >>> argone((1, 3, 1))
        [0, 2]

    """
    result: list[int] = []
    for i, n in enumerate(iterable):
        if not isinstance(n, numbers.Integral):
            raise ValueError(f'elements in iterable must be int, got {n!r}')
        if n == 1:
            result.append(i)
    return result


class Squeeze(View):
    """Removes axes of length one."""

    axis: tuple[int, ...] | None

    def __init__(self, axis: Axis = None) -> None:
        self.axis = None if axis is None else _arguments.parse_ints(axis, 'axis')

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        _arguments.expect_axis(in_types[0], self.axis)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (inputs[0].squeeze(self.axis),)

    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (gys[0].reshape(self.inputs[0].shape),)


def squeeze(x: VariableLike, axis: Axis = None) -> Variable:
    """Removes axes of length one.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis (None, int or tuple of int): Axes to remove (``None``: all of length one).

    Returns:
        ~chainer.Variable: View of ``x`` without these axes.

    Raises:
        TypeError: If the type of ``axis`` is wrong.
        ValueError: If the length of a given axis is not one.
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range.

    .. admonition:: Example

        >>> F.squeeze(np.zeros((1, 2, 1), np.float32)).shape
        (2,)

    """
    return Squeeze(axis).apply((x,))[0]
