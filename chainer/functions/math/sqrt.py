"""Square root."""
from __future__ import annotations

import chainerx
from chainer.functions._base import UnaryFunction


class Sqrt(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'sqrt'

    def compute(self, xp, x):
        return xp.sqrt(x)

    def gradient(self, m, x, y, gy):
        return gy / (y * 2)


def sqrt(x):
    """Elementwise square root; negative elements give NaN.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Sqrt().apply((x,))[0]


class Rsqrt(UnaryFunction):
    retains = 'y'

    @property
    def label(self):
        return 'rsqrt'

    def forward_chainerx(self, inputs):
        return self.compute(chainerx, inputs[0]),

    def compute(self, xp, x):
        return 1 / xp.sqrt(x)

    def gradient(self, m, x, y, gy):
        return gy * y ** 3 * -0.5


# The name that the function has in graphs recorded on GPUs by earlier versions.
RsqrtGPU = Rsqrt


def rsqrt(x):
    """Elementwise reciprocal of the square root, :math:`1 / \\sqrt{x}`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return Rsqrt().apply((x,))[0]
