"""Softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Softmax(_base.Operation):
    """Softmax along an axis."""

    _kernels = _base.kernels(check=True)

    def __init__(self, axis: int = 1) -> None:
        self.axis: int = _arguments.parse_int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        _arguments.expect_axis(in_types[0], (self.axis,))
        type_check.expect(in_types[0].shape[self.axis] > 0)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.softmax(inputs[0], axis=self.axis),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        xp = cuda.get_array_module(x)
        y = x if x.size == 0 else x - x.max(axis=self.axis, keepdims=True)
        y = xp.exp(y)
        y /= y.sum(axis=self.axis, keepdims=True)
        self.retain_outputs((0,))
        return (y,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gx = ys[0] * gys[0]
        return (gx - ys[0] * m.sum(gx, axis=self.axis, keepdims=True),)


def softmax(x: VariableLike, axis: int = 1) -> Variable:
    """Softmax along an axis.

    .. math:: f(x)_i = \\frac{\\exp(x_i)}{\\sum_j \\exp(x_j)}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values.
        axis (int): Axis along which the output sums to one.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``axis`` is not an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point, or has no such
            axis or no elements along it.

    .. admonition:: Example

        >>> x = np.log(np.array([[1, 2, 1]], np.float32))
        >>> F.softmax(x).array.round(3)
        array([[0.25, 0.5 , 0.25]], dtype=float32)

    """
    return Softmax(axis).apply((x,))[0]
