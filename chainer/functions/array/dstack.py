"""Stacking along the third axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.array._stacking import Stacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class Dstack(Stacking):
    """Joins arrays along the third axis (depth wise)."""

    routine = 'dstack'
    min_ndim = 3

    def axis(self, ndim: int) -> int:
        return 2


def dstack(xs: Sequence[VariableLike]) -> Variable:
    """Joins arrays along the third axis (depth wise).

    It first expands shapes ``(N,)`` to ``(1, N, 1)`` and ``(M, N)`` to ``(M, N, 1)``.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype and number
            of axes, equal in shape except for the joined axis.

    Returns:
        ~chainer.Variable: Joined array of the dtype of the inputs, whose length along the third
        axis is the sum of theirs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty or its arrays do not fit.

    .. admonition:: Example

        >>> a, b = np.zeros(3, np.float32), np.ones(3, np.float32)
        >>> F.dstack((a, b)).shape
        (1, 3, 2)

    """
    return Dstack().apply(xs)[0]
