"""Elementwise sum with an array with a part of the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._arrays import broadcast_along

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def bias(x: VariableLike, y: VariableLike, axis: int = 1) -> Variable:
    """Adds an array, broadcast along the remaining axes.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        y (:class:`~chainer.Variable` or array): Second operand of the dtype of ``x``. Its
            axes match those of ``x`` starting from ``axis``.
        axis (int): First axis of ``x`` that ``y`` has.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``y`` cannot be broadcast that way.
        AssertionError: In debug mode, if the shape of ``y`` does not match these axes of ``x``.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> F.bias(x, np.array([10, 20, 30], np.float32)).array
        array([[11., 22., 33.],
               [14., 25., 36.]], dtype=float32)
        >>> F.bias(x, np.array([10, 20], np.float32), axis=0).array
        array([[11., 12., 13.],
               [24., 25., 26.]], dtype=float32)

    """
    return x + broadcast_along(x, y, axis)
