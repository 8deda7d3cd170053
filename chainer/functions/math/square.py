"""Square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Square(UnaryFunction):
    """Function node of :func:`~chainer.functions.square`."""

    chainerx_routine = 'square'

    @property
    def label(self) -> str:
        return 'square'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.square(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * 2 * x


def square(x: VariableLike) -> Variable:
    """Elementwise square :math:`x^2`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.square(np.array([-3, 0, 2], np.float32)).array
        array([9., 0., 4.], dtype=float32)

    """
    return Square().apply((x,))[0]
