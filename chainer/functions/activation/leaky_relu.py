"""Leaky rectified linear unit."""

from __future__ import annotations

import chainer
from chainer.functions import _base


class LeakyReLU(_base.UnaryFunction):
    """Rectified linear unit with a slope for negative values."""

    _native_inputs = ()

    def __init__(self, slope=0.2):
        self.slope = slope
        # With a positive slope, the output has the sign of the input, so the output suffices.
        self.retains = 'y' if slope > 0 else 'x'

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('leaky_relu', inputs[0], self.slope)

    def compute(self, xp, x):
        if 0 < self.slope <= 1:
            return xp.maximum(x, x * self.slope)
        return xp.where(x >= 0, x, x * self.slope)

    def gradient(self, m, x, y, gy):
        sign = chainer.as_array(y if x is None else x)
        return gy * _base.select(sign >= 0, 1, self.slope, gy.dtype)


def leaky_relu(x, slope=0.2):
    """Leaky rectified linear unit.

    .. math:: f(x) = \\begin{cases} x & x \\ge 0 \\\\ a x & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        slope (float): Slope :math:`a` for negative values.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Maas et al., Rectifier nonlinearities improve neural network acoustic models, ICML 2013.

    .. admonition:: Example

        >>> F.leaky_relu(np.array([-5, 2], np.float32), slope=0.2).array
        array([-1.,  2.], dtype=float32)

    """
    return LeakyReLU(slope).apply((x,))[0]
