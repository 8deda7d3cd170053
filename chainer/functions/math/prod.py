"""Products over axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._base import ReductionFunction
from chainer.functions.math.cumprod import _shift

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import Axis, NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Prod(ReductionFunction):
    """Product of array elements over given axes."""

    chainerx_routine = 'prod'
    retains = 'x'
    # ChainerX divides by the elements to get the gradient.
    _kernels = CHECKED_BY_CHAINERX

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        array: Any = x  # NumPy's stubs have no axis of either type
        return array.prod(axis=self.axis, keepdims=self.keepdims)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * self._product_of_others(m, x)

    def _product_of_others(self, m, x):
        """Product of all other elements, for every element, without dividing."""
        ndim = x.ndim
        if x.size == 0:
            return x
        reduced = range(ndim) if self.axis is None else sorted({a % ndim for a in self.axis})
        order = [a for a in range(ndim) if a not in reduced] + list(reduced)
        moved = m.transpose(x, order)
        kept = [x.shape[a] for a in range(ndim) if a not in reduced]
        flat = m.reshape(moved, (*kept, math.prod([x.shape[a] for a in reduced])))
        axis = flat.ndim - 1
        before = _shift(m, m.cumprod(flat, axis), axis, 1)
        after = m.flip(_shift(m, m.cumprod(m.flip(flat, axis), axis), axis, 1), axis)
        others = m.reshape(before * after, moved.shape)
        return m.transpose(others, sorted(range(ndim), key=order.__getitem__))


def prod(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Product of array elements over given axes.

    .. math:: y = \\prod_i x_i

    Args:
        x (:class:`~chainer.Variable` or array): Factors, of a floating point dtype.
        axis (None, int or tuple of int): Axes to multiply over (``None``: all).
        keepdims (bool): Whether to keep reduced axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, without the reduced axes unless
        ``keepdims``, which gives them length one.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> F.prod(np.array([[1, 2], [3, 4]], np.float32), axis=1).array
        array([ 2., 12.], dtype=float32)

    """
    return Prod(axis, keepdims).apply((x,))[0]
