"""Horizontal stacking."""
from __future__ import annotations

from chainer.functions.array._stacking import Stacking


class Hstack(Stacking):
    """Joins arrays horizontally (column wise)."""

    routine = 'hstack'
    min_ndim = 1

    def axis(self, ndim):
        return 0 if ndim <= 1 else 1


def hstack(xs):
    """Joins arrays horizontally (column wise).

    Arrays are joined along the second axis, one-dimensional ones along the first.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype and number
            of axes, of one shape but for the joined axis.

    Returns:
        ~chainer.Variable: Joined array.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty or its arrays do not fit.

    .. admonition:: Example

        >>> a, b = np.zeros(3, np.float32), np.ones(3, np.float32)
        >>> F.hstack((a, b)).shape
        (6,)

    """
    return Hstack().apply(xs)[0]
