"""Error function."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class Erf(UnaryFunction):

    @property
    def label(self):
        return 'erf'

    def compute(self, xp, x):
        return special(xp).erf(x)

    def gradient(self, m, x, y, gy):
        return 2 / math.sqrt(math.pi) * m.exp(-x * x) * gy


def erf(x):
    """Elementwise error function :math:`\\frac{2}{\\sqrt\\pi} \\int_0^x e^{-t^2} dt`.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Erf().apply((x,))[0]
