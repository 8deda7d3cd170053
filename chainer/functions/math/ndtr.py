"""Distribution function of the normal distribution."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, special


class Ndtr(UnaryFunction):

    @property
    def label(self):
        return 'ndtr'

    def compute(self, xp, x):
        return special(xp).ndtr(x)

    def gradient(self, m, x, y, gy):
        return 1 / math.sqrt(2 * math.pi) * m.exp(-x * x / 2) * gy


def ndtr(x):
    """Elementwise cumulative distribution function of the standard normal distribution.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Ndtr().apply((x,))[0]
