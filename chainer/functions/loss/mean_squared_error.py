"""Mean squared error."""
from __future__ import annotations

from chainer.functions.loss._difference import MeanDifferenceFunction


class MeanSquaredError(MeanDifferenceFunction):

    def compute(self, d):
        return (d * d).mean()

    def gradient(self, m, d, gy):
        return gy * 2 * d


def mean_squared_error(x0, x1):
    """Mean of the squared differences of all elements.

    Args:
        x0 (:class:`~chainer.Variable` or array): First input, of a floating point dtype.
        x1 (:class:`~chainer.Variable` or array): Second input, of the same shape and dtype.

    Returns:
        ~chainer.Variable: Scalar.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes differ.

    """
    return MeanSquaredError().apply((x0, x1))[0]
