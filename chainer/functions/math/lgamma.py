"""Logarithm of the gamma function."""
from __future__ import annotations

from chainer.functions._base import UnaryFunction, special


class LGamma(UnaryFunction):

    @property
    def label(self):
        return 'lgamma'

    def compute(self, xp, x):
        return special(xp).gammaln(x)

    def gradient(self, m, x, y, gy):
        return special(m).digamma(x) * gy


def lgamma(x):
    """Elementwise logarithm of the absolute value of the gamma function.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return LGamma().apply((x,))[0]
