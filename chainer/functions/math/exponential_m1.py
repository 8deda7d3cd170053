"""Exponential minus one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Expm1(UnaryFunction):
    """Function node of :func:`~chainer.functions.expm1`."""

    chainerx_routine = 'expm1'
    retains = 'y'

    @property
    def label(self) -> str:
        return 'expm1'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.expm1(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return (y + 1) * gy


def expm1(x: VariableLike) -> Variable:
    """Elementwise :math:`e^x - 1`, accurate near zero.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> x = np.array([1e-10], np.float32)
        >>> F.expm1(x).array == x, F.exp(x).array - 1
        (array([ True]), array([0.], dtype=float32))

    """
    return Expm1().apply((x,))[0]
