"""Exchange of two axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions.array._views import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class Swapaxes(View):
    """Exchanges two axes."""

    def __init__(self, axis1: int, axis2: int) -> None:
        self.axis1 = axis1
        self.axis2 = axis2

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (inputs[0].swapaxes(self.axis1, self.axis2),)

    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (m.swapaxes(gys[0], self.axis1, self.axis2),)


def swapaxes(x: VariableLike, axis1: int, axis2: int) -> Variable:
    """Exchanges two axes.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis1 (int): First axis.
        axis2 (int): Second axis.

    Returns:
        ~chainer.Variable: View of ``x`` with the axes swapped.

    Raises:
        ValueError: If an axis is out of range (:class:`numpy.exceptions.AxisError`).

    .. admonition:: Example

        >>> F.swapaxes(np.zeros((2, 3, 4), np.float32), 0, 2).shape
        (4, 3, 2)

    """
    return Swapaxes(axis1, axis2).apply((x,))[0]
