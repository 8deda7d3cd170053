"""Scaled complementary error function."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class Erfcx(UnaryFunction):
    retains = 'xy'

    @property
    def label(self):
        return 'erfcx'

    def compute(self, xp, x):
        return special(xp).erfcx(x)

    def gradient(self, m, x, y, gy):
        return 2 * (x * y - 1 / math.sqrt(math.pi)) * gy


def erfcx(x):
    """Elementwise scaled complementary error function, :math:`e^{x^2} \\mathrm{erfc}(x)`.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Erfcx().apply((x,))[0]
