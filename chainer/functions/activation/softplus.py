"""Softplus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions import _base

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Softplus(_base.UnaryFunction):
    """Smooth approximation of the rectified linear unit."""

    _kernels = _base.kernels(retain=None, check=True)

    def __init__(self, beta: float = 1.0) -> None:
        self.beta: float = float(beta)
        self._scale = 1 / self.beta

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.softplus(inputs[0], self.beta),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        x = x * self.beta
        return (xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x)))) * self._scale

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        # The sigmoid, as a tanh that cannot overflow.
        return gy * (m.tanh(x * (self.beta / 2)) * 0.5 + 0.5)


def softplus(x: VariableLike, beta: float = 1.0) -> Variable:
    """Elementwise softplus.

    .. math:: f(x) = \\frac{1}{\\beta} \\log(1 + \\exp(\\beta x))

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        beta (float): Parameter :math:`\\beta`.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ZeroDivisionError: If ``beta`` is zero.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.softplus(np.array([-1, 0, 10], np.float32)).array.round(3)
        array([ 0.313,  0.693, 10.   ], dtype=float32)

    """
    return Softplus(beta).apply((x,))[0]
