"""Leaky rectified linear unit."""

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


class LeakyReLU(_base.UnaryFunction):
    """Rectified linear unit with a slope for negative values."""

    _kernels = _base.kernels(retain=None, check=True)
    retains: str = 'y'

    def __init__(self, slope: float = 0.2) -> None:
        self.slope = slope
        # The sign of the output tells that of the input if the slope keeps it.
        if slope <= 0:
            self.retains = 'x'

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.leaky_relu(inputs[0], self.slope),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        if 0 < self.slope <= 1:
            return xp.maximum(x, x * self.slope)
        return xp.where(x >= 0, x, x * self.slope)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        sign = as_array(y if x is None else x)
        return gy * _arrays.select(sign >= 0, 1, self.slope, gy.dtype)


def leaky_relu(x: VariableLike, slope: float = 0.2) -> Variable:
    """Leaky rectified linear unit.

    .. math:: f(x) = \\begin{cases} x & x \\ge 0 \\\\ a x & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        slope (float): Slope :math:`a` for negative values.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Maas et al., Rectifier nonlinearities improve neural network acoustic models, ICML 2013.

    .. admonition:: Example

        >>> F.leaky_relu(np.array([-5, 2], np.float32), slope=0.2).array
        array([-1.,  2.], dtype=float32)

    """
    return LeakyReLU(slope).apply((x,))[0]
