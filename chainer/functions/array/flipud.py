"""Reversal of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions.array.flip import _Reversal
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class FlipUD(_Reversal):
    """Reverses the order of rows."""

    # ChainerX takes integers, too: inputs are checked before.
    _kernels = NO_KERNELS

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 1)


def flipud(a: VariableLike) -> Variable:
    """Reverses an array in the up-down direction, along its first axis.

    Args:
        a (:class:`~chainer.Variable` or array): Input of at least one axis.

    Returns:
        ~chainer.Variable: View of ``a``, of its shape and dtype.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``a`` has no axes or is not floating point.

    .. admonition:: Example

        >>> F.flipud(np.arange(4, dtype=np.float32).reshape(2, 2)).array
        array([[2., 3.],
               [0., 1.]], dtype=float32)

    """
    return FlipUD().apply((a,))[0]
