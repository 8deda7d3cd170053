"""Hyperbolic functions."""
from __future__ import annotations

from chainer.functions._base import UnaryFunction


class Cosh(UnaryFunction):

    @property
    def label(self):
        return 'cosh'

    def compute(self, xp, x):
        return xp.cosh(x)

    def gradient(self, m, x, y, gy):
        return m.sinh(x) * gy


def cosh(x):
    """Elementwise hyperbolic cosine.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Cosh().apply((x,))[0]


class Sinh(UnaryFunction):

    @property
    def label(self):
        return 'sinh'

    def compute(self, xp, x):
        return xp.sinh(x)

    def gradient(self, m, x, y, gy):
        return m.cosh(x) * gy


def sinh(x):
    """Elementwise hyperbolic sine.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Sinh().apply((x,))[0]
