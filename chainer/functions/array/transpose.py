"""Permutation of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.function_node import FunctionNode
from chainer.utils import type_check

if TYPE_CHECKING:
    import chainerx
    from chainer._fallback import _FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Transpose(FunctionNode):
    """Permutes the axes of an array."""

    _checked_natively = True

    def __init__(self, axes: tuple[int, ...] | None = None) -> None:
        self.axes = axes

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check._argname(in_types, ('x',))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | _FallbackType:
        return (inputs[0].transpose(self.axes),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (inputs[0].transpose(self.axes),)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        axes = self.axes
        if axes is not None:
            ndim = len(axes)
            inverse = [0] * ndim
            for i, axis in enumerate(axes):
                inverse[axis % ndim] = i
            axes = tuple(inverse)
        return (grad_outputs[0].transpose(axes),)

    _backward_arrays = backward


def transpose(x: VariableLike, axes: tuple[int, ...] | None = None) -> Variable:
    """Permutes the axes of an array.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axes (tuple of int or None): Axis of ``x`` that becomes each axis of the output
            (default: all axes in reverse order).

    Returns:
        ~chainer.Variable: View of ``x`` with permuted axes.

    Raises:
        ValueError: If ``axes`` is not a permutation of the axes of ``x``.

    .. admonition:: Example

        >>> x = np.zeros((2, 3, 4), np.float32)
        >>> F.transpose(x, (2, 0, 1)).shape
        (4, 2, 3)

    """
    return Transpose(axes).apply((x,))[0]
