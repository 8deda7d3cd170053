"""Logarithm of the gamma function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class LGamma(UnaryFunction):
    """Function node of :func:`~chainer.functions.lgamma`."""

    chainerx_routine = 'lgamma'
    # ChainerX gives another value at minus infinity.
    _kernels = CHECKED_BY_CHAINERX

    @property
    def label(self) -> str:
        return 'lgamma'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).gammaln(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return m.digamma(x) * gy


def lgamma(x: VariableLike) -> Variable:
    """Elementwise logarithm of the absolute value of the gamma function.

    .. math:: y = \\log |\\Gamma(x)|

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.lgamma(np.array([0.5, 1, 4], np.float32)).array.round(3)
        array([0.572, 0.   , 1.792], dtype=float32)

    """
    return LGamma().apply((x,))[0]
