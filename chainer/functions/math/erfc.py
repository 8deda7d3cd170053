"""Complementary error function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction, kernels

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Erfc(UnaryFunction):
    """Function node of :func:`~chainer.functions.erfc`."""

    chainerx_routine = 'erfc'
    _kernels = kernels(retain=None, check=True)

    @property
    def label(self) -> str:
        return 'erfc'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).erfc(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -2 / math.sqrt(math.pi) * m.exp(-x * x) * gy


def erfc(x: VariableLike) -> Variable:
    """Elementwise complementary error function, :math:`1 - \\mathrm{erf}(x)`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.erfc(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([1.843, 1.   , 0.157], dtype=float32)

    """
    return Erfc().apply((x,))[0]
