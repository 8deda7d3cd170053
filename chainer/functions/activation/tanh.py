"""Hyperbolic tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions import _base

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Tanh(_base.UnaryFunction):
    """Hyperbolic tangent."""

    chainerx_routine = 'tanh'
    retains = 'y'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.tanh(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * (1 - y * y)


def tanh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic tangent.

    .. math:: f(x) = \\tanh(x)

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.tanh(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-0.762,  0.   ,  0.762], dtype=float32)

    """
    return Tanh().apply((x,))[0]
