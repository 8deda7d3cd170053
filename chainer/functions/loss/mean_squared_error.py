"""Mean squared error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.loss._difference import MeanDifferenceFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class MeanSquaredError(MeanDifferenceFunction):
    """Function node of :func:`~chainer.functions.mean_squared_error`."""

    def compute(self, d: NdArray) -> NdArray:
        return (d * d).mean()

    def gradient(self, m: Namespace, d: Operand, gy: Operand) -> Operand:
        return gy * 2 * d


def mean_squared_error(x0: VariableLike, x1: VariableLike) -> Variable:
    """Mean of the squared differences of all elements.

    .. math:: \\frac1n \\sum_{i=1}^n (x_{0,i} - x_{1,i})^2

    Args:
        x0 (:class:`~chainer.Variable` or array): First input, of a floating point dtype.
        x1 (:class:`~chainer.Variable` or array): Second input, of the same shape and dtype.

    Returns:
        ~chainer.Variable: Scalar of the dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes differ.

    .. admonition:: Example

        >>> x0, x1 = np.array([1, 5, 3], np.float32), np.array([1, 2, 5], np.float32)
        >>> print(F.mean_squared_error(x0, x1).array.round(3))
        4.333

    """
    return MeanSquaredError().apply((x0, x1))[0]
