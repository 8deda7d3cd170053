"""Vertical stacking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.array._stacking import Stacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class Vstack(Stacking):
    """Joins arrays vertically (row wise)."""

    routine = 'vstack'
    min_ndim = 2

    def axis(self, ndim: int) -> int:
        return 0


def vstack(xs: Sequence[VariableLike]) -> Variable:
    """Joins arrays vertically (row wise).

    It joins arrays along the first axis; one-dimensional arrays become rows.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype and number
            of axes, equal in shape except for the joined axis.

    Returns:
        ~chainer.Variable: Joined array of the dtype of the inputs, whose length along the first
        axis is the sum of theirs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty or its arrays do not fit.

    .. admonition:: Example

        >>> a, b = np.zeros(3, np.float32), np.ones(3, np.float32)
        >>> F.vstack((a, b)).array
        array([[0., 0., 0.],
               [1., 1., 1.]], dtype=float32)

    """
    return Vstack().apply(xs)[0]
