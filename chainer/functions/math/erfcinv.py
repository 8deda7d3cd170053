"""Inverse complementary error function."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class ErfcInv(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'erfcinv'

    def compute(self, xp, x):
        return special(xp).erfcinv(x)

    def gradient(self, m, x, y, gy):
        return -math.sqrt(math.pi) / 2 * m.exp(y * y) * gy


def erfcinv(x):
    """Elementwise inverse of the complementary error function, for values in :math:`(0, 2)`.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return ErfcInv().apply((x,))[0]
