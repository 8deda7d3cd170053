"""Hyperbolic functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Cosh(UnaryFunction):
    """Function node of :func:`~chainer.functions.cosh`."""

    chainerx_routine = 'cosh'

    @property
    def label(self) -> str:
        return 'cosh'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.cosh(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return m.sinh(x) * gy


def cosh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic cosine.

    .. math:: y = \\frac12 (e^x + e^{-x})

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.cosh(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([1.543, 1.   , 1.543], dtype=float32)

    """
    return Cosh().apply((x,))[0]


class Sinh(UnaryFunction):
    """Function node of :func:`~chainer.functions.sinh`."""

    chainerx_routine = 'sinh'

    @property
    def label(self) -> str:
        return 'sinh'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.sinh(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return m.cosh(x) * gy


def sinh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic sine.

    .. math:: y = \\frac12 (e^x - e^{-x})

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.sinh(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-1.175,  0.   ,  1.175], dtype=float32)

    """
    return Sinh().apply((x,))[0]
