"""Linear interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import utils
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class LinearInterpolate(Operation):
    """Function node of :func:`~chainer.functions.linear_interpolate`."""

    _kernels = kernels(retain=(0, 1, 2))

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('p', 'x', 'y'))
        p_type, x_type, y_type = in_types
        type_check.expect(
            p_type.dtype.kind == 'f',
            x_type.dtype == p_type.dtype,
            y_type.dtype == p_type.dtype,
            p_type.shape == x_type.shape,
            p_type.shape == y_type.shape,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        p, x, y = inputs
        self.retain_inputs((0, 1, 2))
        return (utils.force_array(p * x + (1 - p) * y, p.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        p, x, y = xs
        (gy,) = gys
        rules = (lambda: (x - y) * gy, lambda: p * gy, lambda: gy - p * gy)
        return [rules[i]() for i in targets]


def linear_interpolate(p: VariableLike, x: VariableLike, y: VariableLike) -> Variable:
    """Elementwise linear interpolation, :math:`p x + (1 - p) y`.

    Args:
        p (:class:`~chainer.Variable` or array): Weights of ``x``, floating point of any
            shape.
        x (:class:`~chainer.Variable` or array): Values at ``p = 1``, of the same shape and
            dtype.
        y (:class:`~chainer.Variable` or array): Values at ``p = 0``, likewise.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes differ.

    .. admonition:: Example

        >>> p = np.array([0, 0.25, 1], np.float32)
        >>> x, y = np.full(3, 8, np.float32), np.zeros(3, np.float32)
        >>> F.linear_interpolate(p, x, y).array
        array([0., 2., 8.], dtype=float32)

    """
    return LinearInterpolate().apply((p, x, y))[0]
