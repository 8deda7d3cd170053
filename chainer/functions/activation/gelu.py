"""Gaussian error linear unit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import chainerx
from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction, kernels

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class GELU(UnaryFunction):
    """Input times its standard normal distribution function."""

    chainerx_routine = 'gelu'
    _kernels = kernels(retain=None, check=True)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return x * _distribution(special(xp).erf, x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        density = m.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        erf = m.erf
        return gy * (_distribution(erf, x) + x * density)


class TanhGELU(UnaryFunction):
    """Approximation of :class:`GELU` with a hyperbolic tangent."""

    _kernels = kernels(retain=None, check=True)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        return (self.compute(chainerx, inputs[0]),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return x * 0.5 * (1 + _approximate_erf(xp, x))

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        tanh = _approximate_erf(m, x)
        slope = (1 - tanh * tanh) * (_SCALE + (3 * _CUBIC * _SCALE) * x * x)
        return gy * 0.5 * (1 + tanh + x * slope)


_SCALE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _distribution(erf, x):
    return erf(x * math.sqrt(0.5)) * 0.5 + 0.5


def _approximate_erf(m, x):
    return m.tanh(x * (1 + _CUBIC * x * x) * _SCALE)


def gelu(x: VariableLike, approximate: bool = False) -> Variable:
    """Elementwise Gaussian error linear unit.

    .. math:: f(x) = x \\Phi(x)
        = \\frac{x}{2} \\left(1 + \\mathrm{erf} \\frac{x}{\\sqrt 2}\\right)

    Its approximation is

    .. math:: f(x) = \\frac{x}{2}
        \\left(1 + \\tanh \\left(\\sqrt{2 / \\pi} (x + 0.044715 x^3)\\right)\\right)

    The exact function needs SciPy on the CPU.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        approximate (bool): Whether to compute the approximation.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, for the exact function on the CPU.

    See: Hendrycks and Gimpel, `Gaussian Error Linear Units
    <https://arxiv.org/abs/1606.08415>`_, 2016.

    .. admonition:: Example

        >>> F.gelu(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-0.159,  0.   ,  0.841], dtype=float32)

    """
    return (TanhGELU() if approximate else GELU()).apply((x,))[0]
