"""Cumulative products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer import backend
from chainer._core.reports.fallback import Fallback
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


def _shift(m, x, axis, first):
    """Moves elements one position along an axis and inserts ``first`` at the start."""
    index = [slice(None)] * x.ndim
    index[axis] = slice(0, 1)
    head = x[tuple(index)] * 0 + first
    index[axis] = slice(0, -1)
    return m.concat([head, x[tuple(index)]], axis=axis)


class Cumprodsum(Operation):
    """Recurrence :math:`y_i = a_i + b_i y_{i-1}` along an axis, for inputs a and b."""

    def __init__(self, axis: int | None) -> None:
        self.axis = axis

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a', 'b'))
        type_check.expect(
            in_types[0].dtype.kind == 'f',
            in_types[0].dtype == in_types[1].dtype,
            in_types[0].shape == in_types[1].shape,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((1,))
        self.retain_outputs((0,))
        xp = backend.get_array_module(*inputs)
        a, b = [xp.moveaxis(x, self.axis, 0) for x in inputs]
        y = a.copy()
        for i in range(1, len(y)):
            y[i] += b[i] * y[i - 1]
        return (xp.moveaxis(y, 0, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        axis = self.axis
        factor = _shift(m, m.flip(xs[0], axis), axis, 0)
        (ga,) = m.apply(Cumprodsum(axis), (m.flip(gys[0], axis), factor))
        ga = m.flip(ga, axis)
        return [ga * _shift(m, ys[0], axis, 0) if i else ga for i in targets]


class Cumprod(Operation):
    """Cumulative product along an axis, or of the flattened array."""

    _kernels = kernels(retain=(0,))

    def __init__(self, axis: int | None) -> None:
        self.axis: int | None = parse_single_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        expect_axis(in_types[0], None if self.axis is None else (self.axis,))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (in_dtype(backend.get_array_module(x).cumprod(x, axis=self.axis), x.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        # ChainerX's gradient divides by the elements.
        if bool((x == 0).any()):
            return Fallback('zeros')
        return (chainerx.cumprod(x, axis=self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        # dy_j / dx_i is a product without x_i: a recurrence gives the sum over j >= i
        # without dividing by x_i, which may be zero.
        (x,) = xs
        (gy,) = gys
        shape, axis = x.shape, self.axis
        if axis is None:
            x, axis = m.reshape(x, (x.size,)), 0
        if x.size == 0:
            return (m.reshape(gy, shape),)
        factor = _shift(m, m.flip(x, axis), axis, 0)
        (rest,) = m.apply(Cumprodsum(axis), (m.flip(gy, axis), factor))
        return (m.reshape(m.flip(rest, axis) * _shift(m, m.cumprod(x, axis), axis, 1), shape),)


def cumprod(x: VariableLike, axis: int | None = None) -> Variable:
    """Cumulative product of elements along an axis.

    .. math:: y_i = \\prod_{j=0}^i x_j

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (int or None): Axis (``None``: products over the flattened input).

    Returns:
        ~chainer.Variable: Output of the shape (flattened for ``None``) and dtype of ``x``.

    Raises:
        TypeError: If ``axis`` is neither ``None`` nor an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks the axis.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> F.cumprod(x, axis=1).array
        array([[  1.,   2.,   6.],
               [  4.,  20., 120.]], dtype=float32)

    """
    return Cumprod(axis).apply((x,))[0]
