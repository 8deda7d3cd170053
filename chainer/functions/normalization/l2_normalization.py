"""L2 normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer.functions import _arguments, _arrays, _base
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import Axis, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class NormalizeL2(_base.Operation):
    """Division by the L2 norm along axes, plus a small number."""

    _kernels = _base.kernels(retain=(0,))

    def __init__(self, eps: float = 1e-5, axis: Axis = 1) -> None:
        self.eps = eps
        self.axis: tuple[int, ...] | None = _arguments.parse_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        _arguments.expect_axis(in_types[0], self.axis)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0,))
        (x,) = inputs
        xp = backend.get_array_module(x)
        norm = _arrays.norm_of_squared(xp, xp.square(x).sum(axis=self.axis, keepdims=True))
        norm = norm + x.dtype.type(self.eps)
        return (_arrays.in_dtype(x / norm, x.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (x,), (gy,) = xs, gys

        def total(a):
            return m.sum(a, axis=self.axis, keepdims=True)

        square = total(x * x)
        # The norm has no gradient at zero: there it counts as a constant.
        zero = (as_array(square) == 0).astype(x.dtype)
        norm = m.sqrt(square + zero)
        scale = norm - zero + x.dtype.type(self.eps)
        slope = total(x * gy) / (norm * scale * scale)
        return (gy / scale - x * (slope * (1 - zero)),)


def normalize(x: VariableLike, eps: float = 1e-5, axis: Axis = 1) -> Variable:
    """L2 normalization.

    .. math:: y = \\frac{x}{\\|x\\|_2 + \\epsilon}

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        eps (float): Added to norms.
        axis (None, int or tuple of int): Axes of the norm (``None``: all).

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If the type of ``axis`` is wrong.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> x = np.array([[3, 4]], np.float32)
        >>> chainer.functions.normalize(x, eps=0).array
        array([[0.6, 0.8]], dtype=float32)

    """
    return NormalizeL2(eps, axis).apply((x,))[0]
