"""Logarithm of a sum of exponentials."""

from __future__ import annotations

import chainer
import chainerx
from chainer._fallback import Fallback
from chainer.backends import cuda
from chainer.functions._base import ReductionFunction, _as_array


class LogSumExp(ReductionFunction):
    """Logarithm of the sum of exponentials over given axes."""

    _native_inputs = (0,)

    def __init__(self, axis=None):
        super().__init__(axis, keepdims=False)

    def forward(self, inputs):
        (x,) = inputs
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        xp = cuda.get_array_module(x)
        largest = x.max(axis=self.axis, keepdims=True)
        # Keeps infinities out of the difference below.
        largest = xp.where(xp.isfinite(largest), largest, largest.dtype.type(0))
        total = xp.exp(x - largest).sum(axis=self.axis, keepdims=True)
        y = xp.log(total) + largest
        return (_as_array(y.squeeze(axis=self.axis), x.dtype),)

    def forward_chainerx(self, inputs):
        if not hasattr(chainerx, 'logsumexp'):
            return Fallback
        return (chainerx.logsumexp(inputs[0], axis=self.axis),)

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        shape = self.kept_shape(x.shape)
        gy, y = [F.broadcast_to(F.reshape(v, shape), x.shape) for v in (grad_outputs[0], y)]
        return (gy * F.exp(x - y),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (x,), (y,) = self._retained_arrays()
        shape = self.kept_shape(x.shape)
        xp = cuda.get_array_module(x)
        return (grad_outputs[0].reshape(shape) * xp.exp(x - y.reshape(shape)),)


def logsumexp(x, axis=None):
    """Logarithm of the sum of exponentials, :math:`\\log \\sum_i e^{x_i}`, computed stably.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (None, int or tuple of int): Axes to reduce (``None``: all).

    Returns:
        ~chainer.Variable: Output of the dtype of ``x``, without the reduced axes.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> x = np.log(np.array([[1, 2], [3, 4]], np.float32))
        >>> F.logsumexp(x, axis=1).array.round(3)
        array([1.099, 1.946], dtype=float32)

    """
    return LogSumExp(axis).apply((x,))[0]
