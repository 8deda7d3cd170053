"""Trigonometric functions."""
from __future__ import annotations

from chainer.functions._base import BinaryFunction, UnaryFunction


class Sin(UnaryFunction):

    @property
    def label(self):
        return 'sin'

    def compute(self, xp, x):
        return xp.sin(x)

    def gradient(self, m, x, y, gy):
        return m.cos(x) * gy


def sin(x):
    """Elementwise sine of angles in radians.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Sin().apply((x,))[0]


class Cos(UnaryFunction):

    @property
    def label(self):
        return 'cos'

    def compute(self, xp, x):
        return xp.cos(x)

    def gradient(self, m, x, y, gy):
        return -m.sin(x) * gy


def cos(x):
    """Elementwise cosine of angles in radians.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Cos().apply((x,))[0]


class Tan(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'tan'

    def compute(self, xp, x):
        return xp.tan(x)

    def gradient(self, m, x, y, gy):
        return gy * (y * y + 1)


def tan(x):
    """Elementwise tangent of angles in radians.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Tan().apply((x,))[0]


class Arcsin(UnaryFunction):

    @property
    def label(self):
        return 'arcsin'

    def compute(self, xp, x):
        return xp.arcsin(x)

    def gradient(self, m, x, y, gy):
        return gy / m.sqrt(1 - x * x)


def arcsin(x):
    """Elementwise inverse sine, in radians.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Arcsin().apply((x,))[0]


class Arccos(UnaryFunction):

    @property
    def label(self):
        return 'arccos'

    def compute(self, xp, x):
        return xp.arccos(x)

    def gradient(self, m, x, y, gy):
        return -gy / m.sqrt(1 - x * x)


def arccos(x):
    """Elementwise inverse cosine, in radians.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Arccos().apply((x,))[0]


class Arctan(UnaryFunction):

    @property
    def label(self):
        return 'arctan'

    def compute(self, xp, x):
        return xp.arctan(x)

    def gradient(self, m, x, y, gy):
        return gy / (x * x + 1)


def arctan(x):
    """Elementwise inverse tangent, in radians.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Arctan().apply((x,))[0]


class Arctan2(BinaryFunction):
    arguments = ('x1', 'x2')

    @property
    def label(self):
        return 'arctan2'

    def compute(self, xp, x1, x2):
        return xp.arctan2(x1, x2)

    def gradient(self, m, i, x1, x2, y, gy):
        square = x1 * x1 + x2 * x2
        return -x1 / square * gy if i else x2 / square * gy


def arctan2(x1, x2):
    """Elementwise angle of the point :math:`(x_2, x_1)`, with the quadrant chosen by both signs.

    Args:
        x1 (:class:`~chainer.Variable` or array): Ordinates.
        x2 (:class:`~chainer.Variable` or array): Abscissas, of the same dtype.

    Returns:
        ~chainer.Variable: Angles in radians, in :math:`[-\\pi, \\pi]`.

    """
    return Arctan2().apply((x1, x2))[0]
