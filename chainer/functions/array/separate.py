"""Separation along an axis."""

from __future__ import annotations

import chainer
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class Separate(FunctionNode):
    """Splits an array along an axis into slices without that axis."""

    _checked_natively = True

    def __init__(self, axis):
        self.axis = axis

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].ndim > 0)
        _base.expect_axis(in_types[0], (self.axis,))

    def forward_chainerx(self, inputs):
        (x,) = inputs
        before = (slice(None),) * (self.axis % x.ndim)
        return tuple([x[before + (i,)] for i in range(x.shape[self.axis])])

    def forward(self, inputs):
        (x,) = inputs
        xp = cuda.get_array_module(x)
        # The ellipsis keeps elements of one-dimensional arrays as arrays.
        x = xp.moveaxis(x, self.axis, 0)
        return tuple([x[i, ...] for i in range(len(x))])

    def _filled(self, gys):
        """Gradients of all outputs; zeros replace those of unused ones."""
        array = chainer.as_array(next(gy for gy in gys if gy is not None))
        xp = cuda.get_array_module(array)
        return [xp.zeros_like(array) if gy is None else gy for gy in gys]

    def backward(self, target_input_indexes, grad_outputs):
        return (chainer.functions.stack(self._filled(grad_outputs), self.axis),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        gys = self._filled(grad_outputs)
        return (cuda.get_array_module(*gys).stack(gys, self.axis),)


def separate(x, axis=0):
    """Splits an array along an axis into slices.

    It is the inverse of :func:`~chainer.functions.stack`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype with at least one axis.
        axis (int): Axis, which the outputs do not have.

    Returns:
        tuple of ~chainer.Variable: One output per element of the axis.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range.

    .. admonition:: Example

        >>> a, b = F.separate(np.arange(4, dtype=np.float32).reshape(2, 2), axis=1)
        >>> b.array
        array([1., 3.], dtype=float32)

    """
    return Separate(axis).apply((x,))
