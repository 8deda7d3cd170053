"""Move of one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import NO_KERNELS
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


class Rollaxis(View):
    """Moves an axis before another."""

    # ChainerX takes a start further to the left: inputs are checked before.
    _kernels = NO_KERNELS

    def __init__(self, axis: int, start: int) -> None:
        self.axis: int = _arguments.parse_int(axis)
        self.start: int = _arguments.parse_int(start, 'start')

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        _arguments.expect_axis(in_types[0], (self.axis,))
        if self.start >= 0:
            type_check.expect(in_types[0].ndim >= self.start)
        else:
            type_check.expect(in_types[0].ndim >= -self.start)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('rollaxis', inputs[0], self.axis, self.start)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (cuda.get_array_module(x).rollaxis(x, self.axis, self.start),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        ndim = len(self.inputs[0].shape)
        axis = self.axis % ndim
        start = self.start + ndim if self.start < 0 else self.start
        # Removing the axis moves all following axes one to the left.
        axes = [a for a in range(ndim) if a != axis]
        axes.insert(start - (start > axis), axis)
        inverse = [axes.index(a) for a in range(ndim)]
        return (gys[0].transpose(inverse),)


def rollaxis(x: VariableLike, axis: int, start: int = 0) -> Variable:
    """Moves an axis before another one.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis (int): Axis to move.
        start (int): Axis of ``x`` to move it before.

    Returns:
        ~chainer.Variable: View of ``x`` with permuted axes.

    Raises:
        TypeError: If an argument is not an int.
        ~chainer.utils.type_check.InvalidType: If an axis is out of range.

    .. admonition:: Example

        >>> F.rollaxis(np.zeros((2, 3, 4), np.float32), 2).shape
        (4, 2, 3)

    """
    return Rollaxis(axis, start).apply((x,))[0]
