"""Scaled complementary error function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Erfcx(UnaryFunction):
    """Function node of :func:`~chainer.functions.erfcx`."""

    chainerx_routine = 'erfcx'
    retains = 'xy'

    @property
    def label(self) -> str:
        return 'erfcx'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).erfcx(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return 2 * (x * y - 1 / math.sqrt(math.pi)) * gy


def erfcx(x: VariableLike) -> Variable:
    """Elementwise scaled complementary error function, :math:`e^{x^2} \\mathrm{erfc}(x)`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.erfcx(np.array([-1, 0, 10], np.float32)).array.round(3)
        array([5.009, 1.   , 0.056], dtype=float32)

    """
    return Erfcx().apply((x,))[0]
