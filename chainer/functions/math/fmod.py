"""Remainder of a division."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer._core.names.namespace import F
from chainer.functions._base import BinaryFunction
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Fmod(BinaryFunction):
    """Function node of :func:`~chainer.functions.fmod`."""

    chainerx_routine = 'fmod'
    arguments: tuple[str, ...] = ('x', 'divisor')
    # ChainerX has another gradient at infinities.
    _kernels = CHECKED_BY_CHAINERX

    @property
    def label(self) -> str:
        return 'fmod'

    def compute(self, xp: Xp, x: NdArray, divisor: NdArray) -> NdArray:
        return xp.fmod(x, divisor)

    def gradient(
        self, m: Namespace, i: int, x: Operand, divisor: Operand, y: Operand, gy: Operand
    ) -> Operand:
        if i == 0:
            return gy
        return gy * -F.fix(as_array(x) / as_array(divisor)).array


def fmod(x: VariableLike, divisor: VariableLike) -> Variable:
    """Elementwise remainder of the division, with the sign of ``x``.

    .. math:: y = x - d \\, \\mathrm{fix}(x / d)

    Args:
        x (:class:`~chainer.Variable` or array): Dividend, floating point.
        divisor (:class:`~chainer.Variable` or array): Divisor, of the same dtype.

    Returns:
        ~chainer.Variable: Output of the dtype of the inputs and the broadcast shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If dtypes differ or are not floating point, or
            shapes cannot be broadcast.

    .. admonition:: Example

        >>> x, divisor = np.array([-5, 5, 5.5], np.float32), np.array([3, -3, 3], np.float32)
        >>> F.fmod(x, divisor).array
        array([-2. ,  2. ,  2.5], dtype=float32)

    """
    return Fmod().apply((x, divisor))[0]
