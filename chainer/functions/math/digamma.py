"""Digamma function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class DiGamma(UnaryFunction):
    """Function node of :func:`~chainer.functions.digamma`."""

    chainerx_routine = 'digamma'
    # ChainerX has no gradient at infinity.
    _kernels = CHECKED_BY_CHAINERX

    @property
    def label(self) -> str:
        return 'digamma'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).digamma(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return m.polygamma(1, x) * gy


def digamma(x: VariableLike) -> Variable:
    """Elementwise digamma function, the derivative of :func:`~chainer.functions.lgamma`.

    .. math:: \\psi(x) = \\frac{d}{dx} \\log \\Gamma(x)

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.digamma(np.array([0.5, 1, 2], np.float32)).array.round(3)
        array([-1.964, -0.577,  0.423], dtype=float32)

    """
    return DiGamma().apply((x,))[0]
