"""Reversal of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions.array.flip import _Reversal
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class FlipLR(_Reversal):
    """Reverses the order of columns."""

    # ChainerX takes integers, too: inputs are checked before.
    _kernels = NO_KERNELS
    axis = 1

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)


def fliplr(a: VariableLike) -> Variable:
    """Reverses an array in the left-right direction, along its second axis.

    Args:
        a (:class:`~chainer.Variable` or array): Floating point input of at least two axes.

    Returns:
        ~chainer.Variable: View of ``a``, of its shape and dtype.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``a`` has less than two axes or is not
            floating point.

    .. admonition:: Example

        >>> F.fliplr(np.arange(4, dtype=np.float32).reshape(2, 2)).array
        array([[1., 0.],
               [3., 2.]], dtype=float32)

    """
    return FlipLR().apply((a,))[0]
