"""Exponentials and logarithms."""
from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction


class Exp(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'exp'

    def compute(self, xp, x):
        return xp.exp(x)

    def gradient(self, m, x, y, gy):
        return gy * y


def exp(x):
    """Elementwise exponential :math:`e^x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    .. admonition:: Example

        >>> x = np.array([0, -np.inf], np.float32)
        >>> chainer.functions.exp(x).array
        array([1., 0.], dtype=float32)

    """
    return Exp().apply((x,))[0]


class Log(UnaryFunction):

    @property
    def label(self):
        return 'log'

    def compute(self, xp, x):
        return xp.log(x)

    def gradient(self, m, x, y, gy):
        return gy / x


def log(x):
    """Elementwise natural logarithm :math:`\\log x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Log().apply((x,))[0]


class Log2(UnaryFunction):

    @property
    def label(self):
        return 'log2'

    def compute(self, xp, x):
        return xp.log2(x)

    def gradient(self, m, x, y, gy):
        return gy / x * (1 / math.log(2))


def log2(x):
    """Elementwise logarithm to base 2, :math:`\\log_2 x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Log2().apply((x,))[0]


class Log10(UnaryFunction):

    @property
    def label(self):
        return 'log10'

    def compute(self, xp, x):
        return xp.log10(x)

    def gradient(self, m, x, y, gy):
        return gy / x * (1 / math.log(10))


def log10(x):
    """Elementwise logarithm to base 10, :math:`\\log_{10} x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Log10().apply((x,))[0]
