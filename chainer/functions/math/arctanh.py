"""Inverse hyperbolic tangent."""
from __future__ import annotations

import chainerx
from chainer.functions._base import UnaryFunction


class Arctanh(UnaryFunction):

    @property
    def label(self):
        return 'arctanh'

    def forward_chainerx(self, inputs):
        x, = inputs
        return (chainerx.log1p(x) - chainerx.log1p(-x)) * 0.5,

    def compute(self, xp, x):
        return xp.arctanh(x)

    def gradient(self, m, x, y, gy):
        return gy / (1 - x * x)


def arctanh(x):
    """Elementwise inverse hyperbolic tangent.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Arctanh().apply((x,))[0]
