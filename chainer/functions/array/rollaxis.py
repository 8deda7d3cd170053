"""Move of one axis."""

from __future__ import annotations

from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class Rollaxis(FunctionNode):
    """Moves an axis before another."""

    def __init__(self, axis, start):
        for name, value in (('axis', axis), ('start', start)):
            if not isinstance(value, int):
                raise TypeError(f'{name} must be int, not {value!r}')
        self.axis = axis
        self.start = start

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        _base.expect_axis(in_types[0], (self.axis,))
        if self.start >= 0:
            type_check.expect(in_types[0].ndim >= self.start)
        else:
            type_check.expect(in_types[0].ndim >= -self.start)

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('rollaxis', inputs[0], self.axis, self.start)

    def forward(self, inputs):
        (x,) = inputs
        return (cuda.get_array_module(x).rollaxis(x, self.axis, self.start),)

    def backward(self, target_input_indexes, grad_outputs):
        ndim = len(self.inputs[0].shape)
        axis = self.axis % ndim
        start = self.start + ndim if self.start < 0 else self.start
        # Removing the axis moves all following axes one to the left.
        axes = [a for a in range(ndim) if a != axis]
        axes.insert(start - (start > axis), axis)
        inverse = [axes.index(a) for a in range(ndim)]
        return (grad_outputs[0].transpose(inverse),)

    _backward_arrays = backward


def rollaxis(x, axis, start=0):
    """Moves an axis before another one.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis (int): Axis to move.
        start (int): Axis of ``x`` to move it before.

    Returns:
        ~chainer.Variable: View of ``x`` with permuted axes.

    Raises:
        TypeError: If an argument is not an int.
        ~chainer.utils.type_check.InvalidType: If an axis is out of range.

    .. admonition:: Example

        >>> F.rollaxis(np.zeros((2, 3, 4), np.float32), 2).shape
        (4, 2, 3)

    """
    return Rollaxis(axis, start).apply((x,))[0]
