"""Softplus."""

from __future__ import annotations

from chainer.functions import _base


class Softplus(_base.UnaryFunction):
    """Smooth approximation of the rectified linear unit."""

    _native_inputs = (0,)

    def __init__(self, beta=1.0):
        self.beta = float(beta)

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('softplus', inputs[0], self.beta)

    def compute(self, xp, x):
        x = x * self.beta
        return (xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x)))) * (1 / self.beta)

    def gradient(self, m, x, y, gy):
        # The sigmoid in its tanh form, which cannot overflow.
        return gy * (m.tanh(x * (self.beta / 2)) * 0.5 + 0.5)


def softplus(x, beta=1.0):
    """Elementwise softplus.

    .. math:: f(x) = \\frac{1}{\\beta} \\log(1 + \\exp(\\beta x))

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        beta (float): Parameter :math:`\\beta`.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.softplus(np.array([-1, 0, 10], np.float32)).array.round(3)
        array([ 0.313,  0.693, 10.   ], dtype=float32)

    """
    return Softplus(beta).apply((x,))[0]
