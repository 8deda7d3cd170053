"""Horizontal stacking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.array._stacking import Stacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class Hstack(Stacking):
    """Joins arrays horizontally (column wise)."""

    routine = 'hstack'
    min_ndim = 1

    def axis(self, ndim: int) -> int:
        return 0 if ndim <= 1 else 1


def hstack(xs: Sequence[VariableLike]) -> Variable:
    """Joins arrays horizontally (column wise).

    It joins arrays along the second axis, one-dimensional arrays along the first.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype and number
            of axes, equal in shape except for the joined axis.

    Returns:
        ~chainer.Variable: Joined array of the dtype of the inputs, whose length along the second
        axis is the sum of theirs, or along the only axis if they have one.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty or its arrays do not fit.

    .. admonition:: Example

        >>> a, b = np.zeros((2, 1), np.float32), np.ones((2, 2), np.float32)
        >>> F.hstack((a, b)).array
        array([[0., 1., 1.],
               [0., 1., 1.]], dtype=float32)

    """
    return Hstack().apply(xs)[0]
