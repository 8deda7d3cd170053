"""Products over axes."""

from __future__ import annotations

import math

import chainer
from chainer.functions._base import ReductionFunction, _as_array
from chainer.functions.math.cumprod import _shift


class Prod(ReductionFunction):
    """Product of array elements over given axes."""

    def forward(self, inputs):
        (x,) = inputs
        self.retain_inputs((0,))
        return (_as_array(x.prod(axis=self.axis, keepdims=self.keepdims), x.dtype),)

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        (x,) = self.get_retained_inputs()
        gy = F.reshape(grad_outputs[0], self.kept_shape(x.shape))
        return (F.broadcast_to(gy, x.shape) * self._product_of_others(x),)

    def _product_of_others(self, x):
        """Product of all other elements, for every element, without dividing."""
        F = chainer.functions
        ndim = x.ndim
        if x.size == 0:
            return x
        reduced = range(ndim) if self.axis is None else sorted({a % ndim for a in self.axis})
        order = [a for a in range(ndim) if a not in reduced] + list(reduced)
        moved = F.transpose(x, order) if ndim else x
        kept = [x.shape[a] for a in range(ndim) if a not in reduced]
        flat = F.reshape(moved, (*kept, math.prod([x.shape[a] for a in reduced])))
        before = _shift(F, F.cumprod(flat, -1), flat.ndim - 1, 1)
        after = F.flip(_shift(F, F.cumprod(F.flip(flat, -1), -1), flat.ndim - 1, 1), -1)
        others = F.reshape(before * after, moved.shape)
        inverse = sorted(range(ndim), key=order.__getitem__)
        return F.transpose(others, inverse) if ndim else others


def prod(x, axis=None, keepdims=False):
    """Product of array elements over given axes.

    .. math:: y = \\prod_i x_i

    Args:
        x (:class:`~chainer.Variable` or array): Factors, of a floating point dtype.
        axis (None, int or tuple of int): Axes to multiply over (``None``: all).
        keepdims (bool): Whether to keep reduced axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype of ``x``, without the reduced axes unless
        ``keepdims``.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> F.prod(np.array([[1, 2], [3, 4]], np.float32), axis=1).array
        array([ 2., 12.], dtype=float32)

    """
    return Prod(axis, keepdims).apply((x,))[0]
