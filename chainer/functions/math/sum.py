"""Sums over axes."""

from __future__ import annotations

import chainer
from chainer import utils
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions._base import ReductionFunction, _as_array
from chainer.utils import type_check


class Sum(ReductionFunction):
    """Sum of array elements over given axes."""

    def forward(self, inputs):
        (x,) = inputs
        return (_as_array(x.sum(axis=self.axis, keepdims=self.keepdims), x.dtype),)

    def backward(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        shape = self.inputs[0].shape
        if not self.keepdims:
            gy = chainer.functions.reshape(gy, self.kept_shape(shape))
        return (chainer.functions.broadcast_to(gy, shape),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        shape = self.inputs[0].shape
        xp = cuda.get_array_module(gy)
        return (xp.broadcast_to(gy.reshape(self.kept_shape(shape)), shape),)


def sum(x, axis=None, keepdims=False):
    """Sum of array elements over given axes.

    .. math:: y = \\sum_i x_i

    Args:
        x (:class:`~chainer.Variable` or array): Elements to sum, of a floating point dtype.
        axis (None, int or tuple of int): Axes to sum over (``None``: all).
        keepdims (bool): Whether to keep summed axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype of ``x``, without the reduced axes unless
        ``keepdims``.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an
            axis.

    .. admonition:: Example

        >>> x = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
        >>> F.sum(x).array
        array(15., dtype=float32)
        >>> F.sum(x, axis=1, keepdims=True).array
        array([[ 3.],
               [12.]], dtype=float32)

    """
    return Sum(axis, keepdims).apply((x,))[0]


class SumTo(FunctionNode):
    """Sum to a shape that broadcasts to the shape of the input."""

    _checked_natively = True

    def __init__(self, shape):
        self._shape = tuple(shape)

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))

    def forward(self, inputs):
        return (utils.sum_to(inputs[0], self._shape),)

    def forward_chainerx(self, inputs):
        (x,) = inputs
        lead = x.ndim - len(self._shape)
        axes = tuple(range(lead)) + tuple(
            [i + lead for i, n in enumerate(self._shape) if n == 1 and x.shape[i + lead] != 1]
        )
        return (x.sum(axis=axes).reshape(self._shape),)

    def backward(self, target_input_indexes, grad_outputs):
        return (chainer.functions.broadcast_to(grad_outputs[0], self.inputs[0].shape),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        return (cuda.get_array_module(gy).broadcast_to(gy, self.inputs[0].shape),)


def sum_to(x, shape):
    """Sums elements along axes to a given shape.

    It is the adjoint of :func:`~chainer.functions.broadcast_to`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        shape (tuple of int): Shape that broadcasts to the shape of ``x``.

    Returns:
        ~chainer.Variable: Output of shape ``shape`` and of the dtype of ``x``; ``x`` itself if it
        already has that shape.

    Raises:
        ValueError: If ``shape`` does not broadcast to the shape of ``x``.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
        >>> F.sum_to(x, (1, 3)).array
        array([[5., 7., 9.]], dtype=float32)

    """
    if x.shape == tuple(shape):
        return chainer.as_variable(x)
    return SumTo(shape).apply((x,))[0]
