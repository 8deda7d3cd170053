"""Distribution function of the normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Ndtr(UnaryFunction):
    """Function node of :func:`~chainer.functions.ndtr`."""

    chainerx_routine = 'ndtr'

    @property
    def label(self) -> str:
        return 'ndtr'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).ndtr(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return 1 / math.sqrt(2 * math.pi) * m.exp(-x * x / 2) * gy


def ndtr(x: VariableLike) -> Variable:
    """Elementwise cumulative distribution function of the standard normal distribution.

    .. math:: \\Phi(x) = \\frac{1}{\\sqrt{2 \\pi}} \\int_{-\\infty}^x e^{-t^2 / 2} dt

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.ndtr(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([0.159, 0.5  , 0.841], dtype=float32)

    """
    return Ndtr().apply((x,))[0]
