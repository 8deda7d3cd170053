"""Logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions._base import ReductionFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike, Xp
    from chainer.variable import Variable


class LogSumExp(ReductionFunction):
    """Logarithm of the sum of exponentials over given axes."""

    retains = 'xy'

    def __init__(self, axis: Axis = None) -> None:
        super().__init__(axis, keepdims=False)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        largest = x.max(axis=self.axis, keepdims=True)
        # Keeps infinities out of the difference below.
        largest = xp.where(xp.isfinite(largest), largest, largest.dtype.type(0))
        total = xp.exp(x - largest).sum(axis=self.axis, keepdims=True)
        return (xp.log(total) + largest).squeeze(axis=self.axis)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.logsumexp(inputs[0], axis=self.axis),)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * m.exp(x - y)


def logsumexp(x: VariableLike, axis: Axis = None) -> Variable:
    """Logarithm of the sum of exponentials, :math:`\\log \\sum_i e^{x_i}`, computed stably.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (None, int or tuple of int): Axes to reduce (``None``: all).

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, without the reduced axes.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> x = np.log(np.array([[1, 2], [3, 4]], np.float32))
        >>> F.logsumexp(x, axis=1).array.round(3)
        array([1.099, 1.946], dtype=float32)

    """
    return LogSumExp(axis).apply((x,))[0]
