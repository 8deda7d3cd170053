"""Diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.functions.array._views import View
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Diagonal(View):
    """Takes a diagonal of two axes."""

    def __init__(self, offset: int, axis1: int, axis2: int) -> None:
        self.offset = offset
        self.axis1 = axis1
        self.axis2 = axis2

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        # NumPy's error covers both axes; a check per axis names the wrong one.
        for axis in (self.axis1, self.axis2):
            n = type_check.make_variable(axis + 1 if axis >= 0 else -axis, 'axis')
            type_check.expect(in_types[0].ndim >= n)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (inputs[0].diagonal(self.offset, self.axis1, self.axis2),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.diagonal(inputs[0], self.offset, self.axis1, self.axis2),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        shape = self.inputs[0].shape
        return m.apply(_DiagonalGrad(shape, self.offset, self.axis1, self.axis2), gys)


class _DiagonalGrad(Operation):
    """Puts an array on a diagonal of zeros."""

    def __init__(self, shape: tuple[int, ...], offset: int, axis1: int, axis2: int) -> None:
        self._shape = shape
        self._args = offset, axis1, axis2

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (gy,) = inputs
        xp = cuda.get_array_module(gy)
        gx = xp.zeros(self._shape, gy.dtype)
        offset, axis1, axis2 = self._args
        # View with the two axes in front: there the diagonal is a pair of index arrays.
        front = xp.moveaxis(gx, (axis1, axis2), (0, 1))
        i = xp.arange(gy.shape[-1])
        front[i + max(-offset, 0), i + max(offset, 0)] = xp.moveaxis(gy, -1, 0)
        return (gx,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(Diagonal(*self._args), gys)


def diagonal(x: VariableLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Takes a diagonal of two axes.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype with at least two axes.
        offset (int): Offset from the main diagonal; positive is above it.
        axis1 (int): Axis of the rows.
        axis2 (int): Axis of the columns.

    Returns:
        ~chainer.Variable: Array without the two axes, with the diagonal as the last axis.

    Raises:
        ~chainer.utils.type_check.InvalidType: If an axis is out of range.
        ValueError: If the axes are the same.

    .. admonition:: Example

        >>> F.diagonal(np.arange(9, dtype=np.float32).reshape(3, 3), offset=1).array
        array([1., 5.], dtype=float32)

    """
    return Diagonal(offset, axis1, axis2).apply((x,))[0]
