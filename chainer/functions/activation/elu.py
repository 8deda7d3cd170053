"""Exponential linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions import _arrays, _base
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class ELU(_base.UnaryFunction):
    """Exponential linear unit."""

    _kernels = _base.kernels(retain=None, check=True)

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha: float = float(alpha)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.elu(inputs[0], self.alpha),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        # Each part is zero where the other one counts.
        return xp.maximum(x, 0) + xp.expm1(xp.minimum(x, 0)) * self.alpha

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        negative = as_array(x) <= 0
        # What the masks discard must not overflow.
        slope = m.exp(m.clip(x, None, 0)) * _arrays.select(negative, self.alpha, 0, gy.dtype)
        return gy * (slope + (~negative).astype(gy.dtype))


def elu(x: VariableLike, alpha: float = 1.0) -> Variable:
    """Exponential linear unit.

    .. math::
        f(x) = \\begin{cases} x & x \\ge 0 \\\\ \\alpha (\\exp(x) - 1) & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        alpha (float): Parameter :math:`\\alpha`.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Clevert et al., `Fast and Accurate Deep Network Learning by Exponential Linear Units
    <https://arxiv.org/abs/1511.07289>`_, 2015.

    .. admonition:: Example

        >>> F.elu(np.array([-100, 2], np.float32), alpha=0.5).array
        array([-0.5,  2. ], dtype=float32)

    """
    return ELU(alpha).apply((x,))[0]
