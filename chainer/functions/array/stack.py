"""Stacking along a new axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.backends import cuda
from chainer.functions import _base
from chainer.functions.array.separate import Separate
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Stack(_base.Operation):
    """Joins arrays along a new axis."""

    # Gradients are views of that of the output, which kernels would copy.
    _kernels = CHECKED_BY_CHAINERX

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        axis = type_check.make_variable(self.axis, 'axis')
        type_check.expect(first.ndim >= axis, -first.ndim - 1 <= axis)
        for i in range(1, type_check.eval(in_types.size())):
            type_check.expect(first.dtype == in_types[i].dtype, first.shape == in_types[i].shape)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('stack', inputs, self.axis)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (cuda.get_array_module(*inputs).stack(inputs, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gxs = m.apply(Separate(self.axis), gys)
        return [gxs[i] for i in targets]


def stack(xs: Sequence[VariableLike], axis: int = 0) -> Variable:
    """Joins arrays of one shape along a new axis.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype and shape.
        axis (int): Position of the new axis in the output.

    Returns:
        ~chainer.Variable: Array of the dtype of the inputs with one more axis, of the length of
        ``xs``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty or its arrays differ in
            dtype or shape, or ``axis`` is out of range.

    .. admonition:: Example

        >>> a, b = np.zeros(3, np.float32), np.ones(3, np.float32)
        >>> F.stack((a, b), axis=1).array
        array([[0., 1.],
               [0., 1.],
               [0., 1.]], dtype=float32)

    """
    return Stack(axis).apply(xs)[0]
