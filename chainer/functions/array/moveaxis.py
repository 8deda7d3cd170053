"""Move of several axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.functions.array._views import View
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Moveaxis(View):
    """Moves axes to new positions."""

    def __init__(self, source: int | tuple[int, ...], destination: int | tuple[int, ...]) -> None:
        self.source: tuple[int, ...] = _arguments.parse_ints(source, 'source')
        self.destination: tuple[int, ...] = _arguments.parse_ints(destination, 'destination')
        if len(self.source) != len(self.destination):
            raise ValueError(
                'source and destination must have the same length: '
                f'{self.source} and {self.destination}'
            )
        for name, axes in (('source', self.source), ('destination', self.destination)):
            if len(set(axes)) != len(axes):
                raise ValueError(f'duplicate value in {name} axis: {axes}')

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        _arguments.expect_axis(in_types[0], self.source)
        _arguments.expect_axis(in_types[0], self.destination)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('moveaxis', inputs[0], self.source, self.destination)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (cuda.get_array_module(x).moveaxis(x, self.source, self.destination),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (m.moveaxis(gys[0], self.destination, self.source),)


def moveaxis(
    x: VariableLike, source: int | tuple[int, ...], destination: int | tuple[int, ...]
) -> Variable:
    """Moves axes to new positions; other axes keep their order.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        source (int or tuple of int): Axes to move.
        destination (int or tuple of int): Position of each of them in the output.

    Returns:
        ~chainer.Variable: View of ``x`` with permuted axes.

    Raises:
        TypeError: If an argument is neither an int nor a tuple of ints.
        ValueError: If an axis appears twice or the lengths differ.
        ~chainer.utils.type_check.InvalidType: If an axis is out of range.

    .. admonition:: Example

        >>> F.moveaxis(np.zeros((2, 3, 4, 5), np.float32), (0, 1), (-1, -2)).shape
        (4, 5, 3, 2)

    """
    return Moveaxis(source, destination).apply((x,))[0]
