"""Sigmoid linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions import _base
from chainer.functions.activation.swish import _sigmoid

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class SiLU(_base.UnaryFunction):
    """Input times its sigmoid."""

    chainerx_routine = 'silu'
    _kernels = _base.kernels(retain=None, check=True)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return x * _sigmoid(xp, x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        sigmoid = _sigmoid(m, x)
        return gy * sigmoid * (1 + x * (1 - sigmoid))


def silu(x: VariableLike) -> Variable:
    """Elementwise sigmoid linear unit.

    .. math:: f(x) = x \\cdot \\sigma(x)

    It is :func:`~chainer.functions.swish` with the scale one.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Elfwing et al., `Sigmoid-Weighted Linear Units for Neural Network Function
    Approximation in Reinforcement Learning <https://arxiv.org/abs/1702.03118>`_, 2017.

    .. admonition:: Example

        >>> F.silu(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-0.269,  0.   ,  0.731], dtype=float32)

    """
    return SiLU().apply((x,))[0]
