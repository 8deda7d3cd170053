"""Hard sigmoid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions import _base
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class HardSigmoid(_base.UnaryFunction):
    """Piecewise linear approximation of the sigmoid."""

    # NumPy takes half the time.
    _kernels = CHECKED_BY_CHAINERX

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        # Not a clip: its gradient would also pass at the ends of the slope.
        outside = (x <= -2.5) | (x >= 2.5)
        return (chainerx.where(outside, (x > 0).astype(x.dtype), x * 0.2 + 0.5),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return (x * 0.2 + 0.5).clip(0, 1)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        x = as_array(x)
        return gy * ((x > -2.5) & (x < 2.5)) * 0.2


def hard_sigmoid(x: VariableLike) -> Variable:
    """Elementwise hard sigmoid.

    .. math:: f(x) = \\min(\\max(0.2 x + 0.5, 0), 1)

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.hard_sigmoid(np.array([-3, 0, 3], np.float32)).array
        array([0. , 0.5, 1. ], dtype=float32)

    """
    return HardSigmoid().apply((x,))[0]
