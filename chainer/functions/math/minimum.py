"""Elementwise minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._base import BinaryFunction
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Minimum(BinaryFunction):
    """Elementwise minimum; where both are equal the first input gets the gradient."""

    chainerx_routine = 'minimum'
    arguments: tuple[str, ...] = ('x1', 'x2')
    # ChainerX gives both inputs half of the gradient where they are equal.
    _kernels = CHECKED_BY_CHAINERX

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return xp.minimum(x0, x1)

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        first = as_array(x0) <= as_array(x1)
        return gy * (first if i == 0 else ~first).astype(gy.dtype)


def minimum(x1: VariableLike, x2: VariableLike) -> Variable:
    """Elementwise smaller value, with broadcasting.

    .. math:: y = \\min(x_1, x_2)

    Args:
        x1 (:class:`~chainer.Variable` or array): First input, floating point.
        x2 (:class:`~chainer.Variable` or array): Second input, of the same dtype.

    Returns:
        ~chainer.Variable: Output of the dtype of the inputs and the broadcast shape. Where both
        are equal, the first one gets the gradient.

    Raises:
        ~chainer.utils.type_check.InvalidType: If dtypes differ or are not floating point, or
            shapes cannot be broadcast.

    .. admonition:: Example

        >>> x1, x2 = np.array([1, 4], np.float32), np.array([2, 3], np.float32)
        >>> F.minimum(x1, x2).array
        array([1., 3.], dtype=float32)

    """
    return Minimum().apply((x1, x2))[0]
