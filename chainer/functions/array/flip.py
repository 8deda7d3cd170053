"""Reversal of the order of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.functions.array._views import View
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class _Reversal(View):
    """Reverses the order of elements along :attr:`axis`."""

    axis = 0

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('flip', inputs[0], self.axis)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (cuda.get_array_module(x).flip(x, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (m.flip(gys[0], self.axis),)


class Flip(_Reversal):
    """Reverses the order of elements along an axis."""

    def __init__(self, axis: int) -> None:
        self.axis: int = _arguments.parse_int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].ndim > 0)
        _arguments.expect_axis(in_types[0], (self.axis,))


def flip(x: VariableLike, axis: int) -> Variable:
    """Reverses the order of elements along an axis.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis (int): Axis.

    Returns:
        ~chainer.Variable: View of ``x``, of its shape and dtype.

    Raises:
        TypeError: If ``axis`` is not an int.
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range.

    .. admonition:: Example

        >>> F.flip(np.arange(3, dtype=np.float32), axis=0).array
        array([2., 1., 0.], dtype=float32)

    """
    return Flip(axis).apply((x,))[0]
