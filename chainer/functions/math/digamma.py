"""Digamma function."""
from __future__ import annotations

from chainer.functions._base import UnaryFunction, special


class DiGamma(UnaryFunction):

    @property
    def label(self):
        return 'digamma'

    def compute(self, xp, x):
        return special(xp).digamma(x)

    def gradient(self, m, x, y, gy):
        return special(m).polygamma(1, x) * gy


def digamma(x):
    """Elementwise digamma function, the derivative of :func:`~chainer.functions.lgamma`.

    On the CPU it needs SciPy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return DiGamma().apply((x,))[0]
