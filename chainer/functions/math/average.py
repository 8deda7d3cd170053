"""Averages over axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer._core.names.namespace import F
from chainer.functions._arguments import parse_axis
from chainer.functions._base import ReductionFunction
from chainer.variable import as_variable

if TYPE_CHECKING:
    import chainerx
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Mean(ReductionFunction):
    """Mean of array elements over given axes."""

    chainerx_routine = 'mean'

    def __init__(self, axis: Axis, keepdims: bool) -> None:
        super().__init__(axis, keepdims)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        self._check_not_empty(x)
        array: Any = x  # NumPy's stubs have no axis of either type
        return array.mean(axis=self.axis, keepdims=self.keepdims)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        self._check_not_empty(inputs[0])
        return super().forward_chainerx(inputs)

    def _check_not_empty(self, x):
        if x.size == 0 and 0 in (x.shape if self.axis is None else [x.shape[a] for a in self.axis]):
            raise ZeroDivisionError(
                f'an array of shape {x.shape} has no mean along axis {self.axis}'
            )

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        shape = self.inputs[0].shape
        count = math.prod(shape) // max(gy.size, 1)
        return m.broadcast_to(gy * (1.0 / max(count, 1)), shape)


def average(
    x: VariableLike, axis: Axis = None, weights: VariableLike | None = None, keepdims: bool = False
) -> Variable:
    """Weighted average of array elements over given axes.

    .. math:: y = \\frac{\\sum_i w_i x_i}{\\sum_i w_i}

    Args:
        x (:class:`~chainer.Variable` or array): Elements, of a floating point dtype.
        axis (None, int or tuple of int): Axes to average over (``None``: all).
        weights (None, :class:`~chainer.Variable` or array): Weights, of the shape of the
            averaged axes and of the dtype of ``x`` (default: equal weights).
        keepdims (bool): Whether to keep averaged axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype of ``x``, with the shape of the remaining axes.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice or ``weights`` has another number of axes.
        ZeroDivisionError: If the axes have no elements.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis, or
            the shape or dtype of ``weights`` does not fit.

    .. admonition:: Example

        >>> x = np.array([[1, 2], [3, 4]], np.float32)
        >>> F.average(x, axis=0).array
        array([2., 3.], dtype=float32)
        >>> F.average(x, axis=0, weights=np.array([3, 1], np.float32)).array
        array([1.5, 2.5], dtype=float32)

    """
    if weights is None:
        return Mean(axis, keepdims).apply((x,))[0]
    axes = parse_axis(axis)
    if axes is None:
        axes = tuple(range(x.ndim))
    axes = tuple([a % x.ndim for a in axes])
    if len(set(axes)) != len(axes):
        raise ValueError(f'duplicate value in axis: {axis}')
    weights = as_variable(weights)
    if weights.ndim != len(axes):
        raise ValueError(
            f'weights must have an axis for each of the {len(axes)} axes, got {weights.ndim}'
        )
    total = F.sum(weights)
    weights = F.reshape(weights, [n if i in axes else 1 for i, n in enumerate(x.shape)])
    return F.sum(x * F.broadcast_to(weights, x.shape), axis, keepdims) / total


mean = average
