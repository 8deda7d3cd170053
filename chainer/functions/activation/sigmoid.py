"""Logistic sigmoid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions import _base

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Sigmoid(_base.UnaryFunction):
    """Logistic sigmoid."""

    chainerx_routine = 'sigmoid'
    _kernels = _base.kernels(retain=None, check=True)
    retains = 'y'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        # The form with tanh cannot overflow.
        return xp.tanh(x * 0.5) * 0.5 + 0.5

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * y * (1 - y)


def sigmoid(x: VariableLike) -> Variable:
    """Elementwise logistic sigmoid.

    .. math:: f(x) = (1 + \\exp(-x))^{-1}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.sigmoid(np.array([-2, 0, 2], np.float32)).array.round(3)
        array([0.119, 0.5  , 0.881], dtype=float32)

    """
    return Sigmoid().apply((x,))[0]
