"""Logistic sigmoid."""

from __future__ import annotations

from chainer.functions import _base


class Sigmoid(_base.UnaryFunction):
    """Logistic sigmoid."""

    retains = 'y'
    _native_inputs = ()

    def compute(self, xp, x):
        # The tanh form cannot overflow.
        return xp.tanh(x * 0.5) * 0.5 + 0.5

    def gradient(self, m, x, y, gy):
        return gy * y * (1 - y)


def sigmoid(x):
    """Elementwise logistic sigmoid.

    .. math:: f(x) = (1 + \\exp(-x))^{-1}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.sigmoid(np.array([-2, 0, 2], np.float32)).array.round(3)
        array([0.119, 0.5  , 0.881], dtype=float32)

    """
    return Sigmoid().apply((x,))[0]
