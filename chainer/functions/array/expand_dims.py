"""Insertion of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions import _base
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


class ExpandDims(View):
    """Inserts an axis of length one."""

    def __init__(self, axis: int) -> None:
        self.axis: int = int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        if self.axis >= 0:
            type_check.expect(in_types[0].ndim >= self.axis)
        else:
            type_check.expect(in_types[0].ndim >= -self.axis - 1)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('expand_dims', inputs[0], self.axis)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (cuda.get_array_module(x).expand_dims(x, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (gys[0].reshape(self.inputs[0].shape),)


def expand_dims(x: VariableLike, axis: int) -> Variable:
    """Inserts an axis of length one.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis (int): Position of the new axis in the output; a negative one counts from the end.

    Returns:
        ~chainer.Variable: View of ``x`` with one more axis.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range.

    .. admonition:: Example

        >>> F.expand_dims(np.zeros((2, 3), np.float32), axis=1).shape
        (2, 1, 3)

    """
    return ExpandDims(axis).apply((x,))[0]
