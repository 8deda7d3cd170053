"""Clipping to an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import chainerx
from chainer.functions._base import UnaryFunction
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Clip(UnaryFunction):
    """Limits values to an interval; the gradient passes inside it and at its bounds."""

    def __init__(self, x_min: float | None, x_max: float | None) -> None:
        if x_min is None and x_max is None:
            raise ValueError('x_min and x_max must not both be None')
        if x_min is not None and x_max is not None and x_min > x_max:
            raise ValueError(f'x_min must not be above x_max, got {x_min} and {x_max}')
        self.x_min = x_min
        self.x_max = x_max

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.clip(x, self.x_min, self.x_max)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        x = as_array(x)
        inside: Any = True
        if self.x_min is not None:
            inside = x >= self.x_min
        if self.x_max is not None:
            inside = inside & (x <= self.x_max)
        return gy * inside.astype(gy.dtype)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        # Bounds on both sides: at one that is reached the gradient passes.
        low = -math.inf if self.x_min is None else self.x_min
        high = math.inf if self.x_max is None else self.x_max
        return (chainerx.clip(inputs[0], low, high),)


def clip(x: VariableLike, x_min: float | None, x_max: float | None) -> Variable:
    """Limits elements to the interval :math:`[x_{min}, x_{max}]`.

    .. math:: y = \\min(\\max(x, x_{min}), x_{max})

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        x_min (float or None): Lower bound (``None``: unbounded).
        x_max (float or None): Upper bound (``None``: unbounded).

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ValueError: If both bounds are ``None``, or the lower one is above the upper one.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.clip(np.array([-2, 0.5, 3], np.float32), 0, 1).array
        array([0. , 0.5, 1. ], dtype=float32)

    """
    return Clip(x_min, x_max).apply((x,))[0]
