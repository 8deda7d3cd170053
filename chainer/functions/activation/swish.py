"""Swish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer.functions._base import Operation, kernels
from chainer.functions.activation.prelu import _extended
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Swish(Operation):
    """Input times the sigmoid of the scaled input."""

    _kernels = kernels(retain=(0, 1))

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'beta'))
        x_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            beta_type.dtype == x_type.dtype,
            beta_type.ndim <= x_type.ndim - 1,
            beta_type.shape == x_type.shape[1 : 1 + type_check.eval(beta_type.ndim)],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, beta = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        return (x * _sigmoid(xp, x * _extended(beta, x)),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, beta = xs
        (gy,) = gys
        shape, extended = beta.shape, _extended(beta, x)
        sigmoid = _sigmoid(m, x * extended)
        slope = x * sigmoid * (1 - sigmoid)
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(gy * (sigmoid + extended * slope))
            else:
                gxs.append(m.sum_to(gy * x * slope, extended.shape).reshape(shape))
        return gxs


def _sigmoid(m, x):
    return m.tanh(x * 0.5) * 0.5 + 0.5


def swish(x: VariableLike, beta: VariableLike) -> Variable:
    """Elementwise swish with learned scales.

    .. math:: f(x) = x \\cdot \\sigma(\\beta x)

    With :math:`\\beta = 1` it is :func:`~chainer.functions.silu`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, of shape
            ``(N, ...)``.
        beta (:class:`~chainer.Variable` or array): Scales, of the dtype of ``x``. Its axes match
            the axes of ``x`` starting from the second one.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or ``beta`` does
            not fit.

    See: Ramachandran et al., `Searching for Activation Functions
    <https://arxiv.org/abs/1710.05941>`_, 2017.

    .. admonition:: Example

        >>> x = np.array([[1, 1, -1]], np.float32)
        >>> F.swish(x, np.array([0, 1, 1], np.float32)).array.round(3)
        array([[ 0.5  ,  0.731, -0.269]], dtype=float32)

    """
    return Swish().apply((x, beta))[0]
