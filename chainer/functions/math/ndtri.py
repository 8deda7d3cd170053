"""Quantiles of the normal distribution."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class Ndtri(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'ndtri'

    def compute(self, xp, x):
        return special(xp).ndtri(x)

    def gradient(self, m, x, y, gy):
        return math.sqrt(2 * math.pi) * m.exp(y * y / 2) * gy


def ndtri(x):
    """Elementwise inverse of the cumulative distribution function of the standard normal
    distribution.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Ndtri().apply((x,))[0]
