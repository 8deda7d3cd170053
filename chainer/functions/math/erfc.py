"""Complementary error function."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class Erfc(UnaryFunction):

    @property
    def label(self):
        return 'erfc'

    def compute(self, xp, x):
        return special(xp).erfc(x)

    def gradient(self, m, x, y, gy):
        return -2 / math.sqrt(math.pi) * m.exp(-x * x) * gy


def erfc(x):
    """Elementwise complementary error function, :math:`1 - \\mathrm{erf}(x)`.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Erfc().apply((x,))[0]
