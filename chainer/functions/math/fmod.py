"""Remainder of a division."""
from __future__ import annotations

import chainer
from chainer.functions._base import BinaryFunction
from chainer.variable import as_array


class Fmod(BinaryFunction):
    arguments = ('x', 'divisor')

    @property
    def label(self):
        return 'fmod'

    def compute(self, xp, x, divisor):
        return xp.fmod(x, divisor)

    def gradient(self, m, i, x, divisor, y, gy):
        if i == 0:
            return gy
        return gy * -chainer.functions.fix(as_array(x) / as_array(divisor)).array


def fmod(x, divisor):
    """Elementwise remainder of the division, with the sign of ``x``.

    Args:
        x (:class:`~chainer.Variable` or array): Dividend.
        divisor (:class:`~chainer.Variable` or array): Divisor, of the same dtype.

    Returns:
        ~chainer.Variable: Output variable.

    """
    return Fmod().apply((x, divisor))[0]
