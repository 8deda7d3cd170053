"""Flattening."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.array.reshape import reshape

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def flatten(x: VariableLike) -> Variable:
    """Flattens an array to one dimension.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.

    Returns:
        ~chainer.Variable: Elements of ``x`` in C order, of shape ``(x.size,)``.

    Raises:
        AttributeError: If ``x`` is neither a variable nor an array.

    .. admonition:: Example

        >>> F.flatten(np.zeros((2, 3), np.float32)).shape
        (6,)

    """
    return reshape(x, (x.size,))
