"""Logarithm of one plus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Log1p(UnaryFunction):
    """Function node of :func:`~chainer.functions.log1p`."""

    chainerx_routine = 'log1p'

    @property
    def label(self) -> str:
        return 'log1p'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.log1p(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / (x + 1)


def log1p(x: VariableLike) -> Variable:
    """Elementwise :math:`\\log(1 + x)`, accurate near zero.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> x = np.array([1e-10], np.float32)
        >>> F.log1p(x).array == x, F.log(1 + x).array
        (array([ True]), array([0.], dtype=float32))

    """
    return Log1p().apply((x,))[0]
