"""Floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._arrays import apply_without_gradient

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def floor(x: VariableLike) -> Variable:
    """Elementwise largest integer not above ``x``.

    The result has no gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If the elements of ``x`` have no order.

    .. admonition:: Example

        >>> F.floor(np.array([-1.5, 0.5, 2], np.float32)).array
        array([-2.,  0.,  2.], dtype=float32)

    """
    return apply_without_gradient('floor', x)
