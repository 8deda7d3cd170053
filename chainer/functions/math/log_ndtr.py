"""Logarithm of the distribution function of the normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class LogNdtr(UnaryFunction):
    """Function node of :func:`~chainer.functions.log_ndtr`."""

    retains = 'xy'
    chainerx_routine = 'log_ndtr'

    @property
    def label(self) -> str:
        return 'log_ndtr'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).log_ndtr(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return 1 / math.sqrt(2 * math.pi) * m.exp(-x * x / 2 - y) * gy


def log_ndtr(x: VariableLike) -> Variable:
    """Elementwise logarithm of the standard normal cumulative distribution function.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.log_ndtr(np.array([-2, 0, 2], np.float32)).array.round(3)
        array([-3.783, -0.693, -0.023], dtype=float32)

    """
    return LogNdtr().apply((x,))[0]
