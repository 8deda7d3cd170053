"""Inverse error function."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class ErfInv(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'erfinv'

    def compute(self, xp, x):
        return special(xp).erfinv(x)

    def gradient(self, m, x, y, gy):
        return math.sqrt(math.pi) / 2 * m.exp(y * y) * gy


def erfinv(x):
    """Elementwise inverse of the error function, for values in :math:`(-1, 1)`.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return ErfInv().apply((x,))[0]
