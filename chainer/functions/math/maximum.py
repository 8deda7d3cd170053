"""Elementwise maximum."""
from __future__ import annotations

from chainer.functions._base import BinaryFunction
from chainer.variable import as_array


class Maximum(BinaryFunction):
    """Elementwise maximum; where both are equal the first input gets the gradient."""

    arguments = ('x1', 'x2')

    def compute(self, xp, x1, x2):
        return xp.maximum(x1, x2)

    def gradient(self, m, i, x1, x2, y, gy):
        first = as_array(x1) >= as_array(x2)
        return gy * (first if i == 0 else ~first).astype(gy.dtype)


def maximum(x1, x2):
    """Elementwise larger value, with broadcasting.

    Args:
        x1 (:class:`~chainer.Variable` or array): First input.
        x2 (:class:`~chainer.Variable` or array): Second input, of the same dtype.

    Returns:
        ~chainer.Variable: Output variable.

    .. admonition:: Example

        >>> x1, x2 = np.array([1, 4], np.float32), np.array([2, 3], np.float32)
        >>> chainer.functions.maximum(x1, x2).array
        array([2., 4.], dtype=float32)

    """
    return Maximum().apply((x1, x2))[0]
