"""Squared error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.loss._difference import DifferenceFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class SquaredError(DifferenceFunction):
    """Function node of :func:`~chainer.functions.squared_error`."""

    chainerx_routine = 'squared_error'

    def compute(self, d: NdArray) -> NdArray:
        return d * d

    def gradient(self, m: Namespace, d: Operand, gy: Operand) -> Operand:
        return gy * 2 * d


def squared_error(x0: VariableLike, x1: VariableLike) -> Variable:
    """Elementwise squared error, :math:`(x_0 - x_1)^2`.

    Args:
        x0 (:class:`~chainer.Variable` or array): First input, of a floating point dtype.
        x1 (:class:`~chainer.Variable` or array): Second input, of the same shape and dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes differ.

    .. admonition:: Example

        >>> x0, x1 = np.array([1, 5, 3], np.float32), np.array([1, 2, 5], np.float32)
        >>> F.squared_error(x0, x1).array
        array([0., 9., 4.], dtype=float32)

    """
    return SquaredError().apply((x0, x1))[0]


def squared_difference(x1: VariableLike, x2: VariableLike) -> Variable:
    """Elementwise squared error; alias of :func:`squared_error`.

    Args:
        x1 (:class:`~chainer.Variable` or array): First input, of a floating point dtype.
        x2 (:class:`~chainer.Variable` or array): Second input, of the same shape and dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes differ.

    .. admonition:: Example

        >>> x0, x1 = np.array([1, 5, 3], np.float32), np.array([1, 2, 5], np.float32)
        >>> F.squared_difference(x0, x1).array
        array([0., 9., 4.], dtype=float32)

    """
    return squared_error(x1, x2)
