"""Logarithm of one plus."""
from __future__ import annotations

from chainer.functions._base import UnaryFunction


class Log1p(UnaryFunction):

    @property
    def label(self):
        return 'log1p'

    def compute(self, xp, x):
        return xp.log1p(x)

    def gradient(self, m, x, y, gy):
        return gy / (x + 1)


def log1p(x):
    """Elementwise :math:`\\log(1 + x)`, accurate near zero.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Log1p().apply((x,))[0]
