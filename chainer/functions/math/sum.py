"""Sums over axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import utils
from chainer.functions._base import Operation, ReductionFunction, kernels
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Sum(ReductionFunction):
    """Sum of array elements over given axes."""

    chainerx_routine = 'sum'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        array: Any = x  # NumPy's stubs have no axis of either type
        return array.sum(axis=self.axis, keepdims=self.keepdims)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return m.broadcast_to(gy, self.inputs[0].shape)


def sum(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Sum of array elements over given axes.

    .. math:: y = \\sum_i x_i

    Args:
        x (:class:`~chainer.Variable` or array): Elements to sum, of a floating point dtype.
        axis (None, int or tuple of int): Axes to sum over (``None``: all).
        keepdims (bool): Whether to keep summed axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, without the reduced axes unless
        ``keepdims``, which gives them length one.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an
            axis.

    .. admonition:: Example

        >>> x = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
        >>> F.sum(x).array
        array(15., dtype=float32)
        >>> F.sum(x, axis=1, keepdims=True).array
        array([[ 3.],
               [12.]], dtype=float32)

    """
    return Sum(axis, keepdims).apply((x,))[0]


class SumTo(Operation):
    """Sum to a shape that broadcasts to the shape of the input."""

    _kernels = kernels(check=True)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = tuple(shape)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (utils.sum_to(inputs[0], self._shape),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        lead = x.ndim - len(self._shape)
        axes = tuple(range(lead)) + tuple(
            [i + lead for i, n in enumerate(self._shape) if n == 1 and x.shape[i + lead] != 1]
        )
        return (x.sum(axis=axes).reshape(self._shape),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (m.broadcast_to(gys[0], self.inputs[0].shape),)


def sum_to(x: VariableLike, shape: tuple[int, ...]) -> Variable:
    """Sums elements along axes to a given shape.

    It is the adjoint of :func:`~chainer.functions.broadcast_to`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        shape (tuple of int): Shape that broadcasts to the shape of ``x``.

    Returns:
        ~chainer.Variable: Output of shape ``shape`` and of the dtype of ``x``; ``x`` itself if it
        already has that shape.

    Raises:
        ValueError: If ``shape`` does not broadcast to the shape of ``x``.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> F.sum_to(x, (1, 3)).array
        array([[5., 7., 9.]], dtype=float32)

    """
    if x.shape == tuple(shape):
        return as_variable(x)
    return SumTo(shape).apply((x,))[0]
