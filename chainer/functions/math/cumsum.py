"""Cumulative sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer import backend
from chainer.functions._arguments import expect_axis, parse_single_axis
from chainer.functions._arrays import in_dtype
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Cumsum(Operation):
    """Cumulative sum along an axis, or of the flattened array."""

    _kernels = kernels()

    def __init__(self, axis: int | None = None) -> None:
        self.axis: int | None = parse_single_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        expect_axis(in_types[0], None if self.axis is None else (self.axis,))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (in_dtype(backend.get_array_module(x).cumsum(x, axis=self.axis), x.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.cumsum(inputs[0], axis=self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        axis = 0 if self.axis is None else self.axis
        gx = m.flip(m.cumsum(m.flip(gys[0], axis), axis), axis)
        return (m.reshape(gx, self.inputs[0].shape),)


def cumsum(x: VariableLike, axis: int | None = None) -> Variable:
    """Cumulative sum of elements along an axis.

    .. math:: y_i = \\sum_{j=0}^i x_j

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (int or None): Axis (``None``: sums over the flattened input).

    Returns:
        ~chainer.Variable: Output of the shape (flattened for ``None``) and dtype of ``x``.

    Raises:
        TypeError: If ``axis`` is neither ``None`` nor an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks the axis.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> F.cumsum(x, axis=1).array
        array([[ 1.,  3.,  6.],
               [ 4.,  9., 15.]], dtype=float32)
        >>> F.cumsum(x).array
        array([ 1.,  3.,  6., 10., 15., 21.], dtype=float32)

    """
    return Cumsum(axis).apply((x,))[0]
