"""Logarithm of softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def logsumexp(x: NdArray, axis: int) -> NdArray:
    """Logarithm of the sum of exponentials of an array along an axis; keeps the axis.

    Args:
        x (array): Input of floating point values.
        axis (int): Axis to sum over.

    Returns:
        Array of the dtype of ``x``, of length one along the axis.

    .. admonition:: Example

        >>> logsumexp(np.array([[0, 1000]], np.float32), axis=1)
        array([[1000.]], dtype=float32)

    """
    xp = cuda.get_array_module(x)
    largest = x.max(axis=axis, keepdims=True)
    y = xp.exp(x - largest).sum(axis=axis, keepdims=True)
    return xp.log(y) + largest


def _log_softmax(x, axis=1):
    """Log-softmax of an array."""
    return x - logsumexp(x, axis) if x.size else x.copy()


class LogSoftmax(_base.Operation):
    """Logarithm of softmax along an axis."""

    _kernels = _base.kernels(check=True)

    def __init__(self, axis: int = 1) -> None:
        self.axis: int = _arguments.parse_int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        _arguments.expect_axis(in_types[0], (self.axis,))
        type_check.expect(in_types[0].shape[self.axis] > 0)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.log_softmax(inputs[0], axis=self.axis),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_outputs((0,))
        return (_log_softmax(inputs[0], self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        return (gy - m.exp(ys[0]) * m.sum(gy, axis=self.axis, keepdims=True),)


def log_softmax(x: VariableLike, axis: int = 1) -> Variable:
    """Logarithm of softmax along an axis.

    .. math:: f(x)_i = x_i - \\log \\sum_j \\exp(x_j)

    It is numerically more stable than ``F.log(F.softmax(x))``.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values.
        axis (int): Axis along which to normalize.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``axis`` is not an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point, or has no such
            axis or no elements along it.

    .. admonition:: Example

        >>> x = np.array([[0, 0, 1000]], np.float32)
        >>> F.log_softmax(x).array
        array([[-1000., -1000.,     0.]], dtype=float32)

    """
    return LogSoftmax(axis).apply((x,))[0]
