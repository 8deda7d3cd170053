"""Inverse hyperbolic tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Arctanh(UnaryFunction):
    """Function node of :func:`~chainer.functions.arctanh`."""

    # NumPy takes half the time.
    _kernels = CHECKED_BY_CHAINERX

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        return ((chainerx.log1p(x) - chainerx.log1p(-x)) * 0.5,)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.arctanh(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / (1 - x * x)


def arctanh(x: VariableLike) -> Variable:
    """Elementwise inverse hyperbolic tangent.

    .. math:: y = \\frac12 \\log \\frac{1 + x}{1 - x}

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.arctanh(np.array([-0.5, 0, 0.5], np.float32)).array.round(3)
        array([-0.549,  0.   ,  0.549], dtype=float32)

    """
    return Arctanh().apply((x,))[0]
