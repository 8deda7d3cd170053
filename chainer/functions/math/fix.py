"""Rounding towards zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._arrays import apply_without_gradient

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def fix(x: VariableLike) -> Variable:
    """Elementwise nearest integer towards zero.

    The result has no gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If the elements of ``x`` have no order.

    .. admonition:: Example

        >>> F.fix(np.array([-1.5, 0.5, 2], np.float32)).array
        array([-1.,  0.,  2.], dtype=float32)

    """
    return apply_without_gradient('trunc', x)  # the same; NumPy 2.5 deprecates its fix
