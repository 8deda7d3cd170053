"""Exponential linear unit."""

from __future__ import annotations

import chainer
from chainer.functions import _base


class ELU(_base.UnaryFunction):
    """Exponential linear unit."""

    retains = 'x'
    _native_inputs = (0,)

    def __init__(self, alpha=1.0):
        self.alpha = float(alpha)

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('elu', inputs[0], self.alpha)

    def compute(self, xp, x):
        # Each part is zero where the other one applies.
        return xp.maximum(x, 0) + xp.expm1(xp.minimum(x, 0)) * self.alpha

    def gradient(self, m, x, y, gy):
        negative = chainer.as_array(x) <= 0
        # Avoid overflow in elements that the masks discard.
        slope = m.exp(m.clip(x, None, 0)) * _base.select(negative, self.alpha, 0, gy.dtype)
        return gy * (slope + (~negative).astype(gy.dtype))


def elu(x, alpha=1.0):
    """Exponential linear unit.

    .. math::
        f(x) = \\begin{cases} x & x \\ge 0 \\\\ \\alpha (\\exp(x) - 1) & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        alpha (float): Parameter :math:`\\alpha`.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Clevert et al., `Fast and Accurate Deep Network Learning by Exponential Linear Units
    <https://arxiv.org/abs/1511.07289>`_, 2015.

    .. admonition:: Example

        >>> F.elu(np.array([-100, 2], np.float32), alpha=0.5).array
        array([-0.5,  2. ], dtype=float32)

    """
    return ELU(alpha).apply((x,))[0]
