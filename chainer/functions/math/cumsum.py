"""Cumulative sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainer
from chainer import backend
from chainer._fallback import Fallback
from chainer.function_node import FunctionNode
from chainer.functions._base import _as_array, expect_axis, parse_single_axis
from chainer.utils import type_check

if TYPE_CHECKING:
    import chainerx
    from chainer._fallback import _FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _reversed_cumsum(m, g, axis):
    return m.flip(m.cumsum(m.flip(g, axis), axis), axis)


class Cumsum(FunctionNode):
    """Cumulative sum along an axis, or of the flattened array."""

    def __init__(self, axis: int | None = None) -> None:
        self.axis: int | None = parse_single_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        expect_axis(in_types[0], None if self.axis is None else (self.axis,))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (_as_array(backend.get_array_module(x).cumsum(x, axis=self.axis), x.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | _FallbackType:
        import chainerx

        if not hasattr(chainerx, 'cumsum'):
            return Fallback
        return (chainerx.cumsum(inputs[0], axis=self.axis),)

    def _gradient(self, m, gy):
        shape = self.inputs[0].shape
        axis = 0 if self.axis is None else self.axis
        return m.reshape(_reversed_cumsum(m, gy, axis), shape)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        return (self._gradient(chainer.functions, grad_outputs[0]),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        return (_as_array(self._gradient(backend.get_array_module(gy), gy), gy.dtype),)


def cumsum(x: VariableLike, axis: int | None = None) -> Variable:
    """Cumulative sum of elements along an axis.

    .. math:: y_i = \\sum_{j=0}^i x_j

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (int or None): Axis (``None``: sums over the flattened input).

    Returns:
        ~chainer.Variable: Output of the shape (flattened for ``None``) and dtype of ``x``.

    Raises:
        TypeError: If ``axis`` is neither ``None`` nor an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks the axis.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> F.cumsum(x, axis=1).array
        array([[ 1.,  3.,  6.],
               [ 4.,  9., 15.]], dtype=float32)
        >>> F.cumsum(x).array
        array([ 1.,  3.,  6., 10., 15., 21.], dtype=float32)

    """
    return Cumsum(axis).apply((x,))[0]
