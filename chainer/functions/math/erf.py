"""Error function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction, kernels

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Erf(UnaryFunction):
    """Function node of :func:`~chainer.functions.erf`."""

    chainerx_routine = 'erf'
    _kernels = kernels(retain=None, check=True)

    @property
    def label(self) -> str:
        return 'erf'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).erf(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return 2 / math.sqrt(math.pi) * m.exp(-x * x) * gy


def erf(x: VariableLike) -> Variable:
    """Elementwise error function :math:`\\frac{2}{\\sqrt\\pi} \\int_0^x e^{-t^2} dt`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.erf(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-0.843,  0.   ,  0.843], dtype=float32)

    """
    return Erf().apply((x,))[0]
