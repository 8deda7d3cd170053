"""Linear interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import utils
from chainer.function_node import FunctionNode
from chainer.utils import type_check

if TYPE_CHECKING:
    import chainerx
    from chainer._fallback import _FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class LinearInterpolate(FunctionNode):
    """Function node of :func:`~chainer.functions.linear_interpolate`."""

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check._argname(in_types, ('p', 'x', 'y'))
        p_type, x_type, y_type = in_types
        type_check.expect(
            p_type.dtype.kind == 'f',
            x_type.dtype == p_type.dtype,
            y_type.dtype == p_type.dtype,
            p_type.shape == x_type.shape,
            p_type.shape == y_type.shape,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        p, x, y = inputs
        self.retain_inputs((0, 1, 2))
        one = p.dtype.type(1)
        return (utils.force_array(p * x + (one - p) * y, p.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | _FallbackType:
        p, x, y = inputs
        return (p * x + (1 - p) * y,)

    def _gradients(self, targets, p, x, y, g):
        rules = (lambda: (x - y) * g, lambda: p * g, lambda: g - p * g)
        return tuple([rules[i]() for i in targets])

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        return self._gradients(target_input_indexes, *self.get_retained_inputs(), *grad_outputs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        inputs, _ = self._retained_arrays()
        (gy,) = grad_outputs
        return tuple(
            [
                utils.force_array(g, gy.dtype)
                for g in self._gradients(target_input_indexes, *inputs, gy)
            ]
        )


def linear_interpolate(p: VariableLike, x: VariableLike, y: VariableLike) -> Variable:
    """Elementwise linear interpolation, :math:`p x + (1 - p) y`.

    Args:
        p (:class:`~chainer.Variable` or array): Weights of ``x``, floating point of any
            shape.
        x (:class:`~chainer.Variable` or array): Values at ``p = 1``, of the same shape and
            dtype.
        y (:class:`~chainer.Variable` or array): Values at ``p = 0``, likewise.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes differ.

    .. admonition:: Example

        >>> p = np.array([0, 0.25, 1], np.float32)
        >>> x, y = np.full(3, 8, np.float32), np.zeros(3, np.float32)
        >>> F.linear_interpolate(p, x, y).array
        array([0., 2., 8.], dtype=float32)

    """
    return LinearInterpolate().apply((p, x, y))[0]
