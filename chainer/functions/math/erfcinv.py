"""Inverse complementary error function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class ErfcInv(UnaryFunction):
    """Function node of :func:`~chainer.functions.erfcinv`."""

    chainerx_routine = 'erfcinv'
    retains = 'y'

    @property
    def label(self) -> str:
        return 'erfcinv'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).erfcinv(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -math.sqrt(math.pi) / 2 * m.exp(y * y) * gy


def erfcinv(x: VariableLike) -> Variable:
    """Elementwise inverse of the complementary error function, for values in :math:`(0, 2)`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.erfcinv(np.array([0.5, 1.5], np.float32)).array.round(3)
        array([ 0.477, -0.477], dtype=float32)

    """
    return ErfcInv().apply((x,))[0]
