"""Complementary error function."""

from __future__ import annotations

import math

from chainer.functions._base import UnaryFunction, kernels, special


class Erfc(UnaryFunction):
    """Function node of :func:`~chainer.functions.erfc`."""

    _kernels = kernels(retain=None, check=True)

    @property
    def label(self):
        return 'erfc'

    def compute(self, xp, x):
        return special(xp).erfc(x)

    def gradient(self, m, x, y, gy):
        return -2 / math.sqrt(math.pi) * m.exp(-x * x) * gy


def erfc(x):
    """Elementwise complementary error function, :math:`1 - \\mathrm{erf}(x)`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.erfc(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([1.843, 1.   , 0.157], dtype=float32)

    """
    return Erfc().apply((x,))[0]
