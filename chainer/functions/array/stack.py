"""Stacking along a new axis."""

from __future__ import annotations

from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class Stack(FunctionNode):
    """Joins arrays along a new axis."""

    _checked_natively = True

    def __init__(self, axis):
        self.axis = axis

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        axis = type_check.make_variable(self.axis, 'axis')
        type_check.expect(first.ndim >= axis, -first.ndim - 1 <= axis)
        for i in range(1, type_check.eval(in_types.size())):
            type_check.expect(first.dtype == in_types[i].dtype, first.shape == in_types[i].shape)

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('stack', inputs, self.axis)

    def forward(self, inputs):
        return (cuda.get_array_module(*inputs).stack(inputs, self.axis),)

    def backward(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        before = (slice(None),) * (self.axis % gy.ndim)
        # Keep the last axis and drop it with reshape, because indexing may give a scalar.
        return tuple(
            [
                gy[before + (slice(i, i + 1),)].reshape(self.inputs[i].shape)
                for i in target_input_indexes
            ]
        )

    _backward_arrays = backward


def stack(xs, axis=0):
    """Joins arrays of one shape along a new axis.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype and shape.
        axis (int): Position of the new axis in the output.

    Returns:
        ~chainer.Variable: Array of the dtype of the inputs with one more axis, of the length of
        ``xs``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty or its arrays differ in
            dtype or shape, or ``axis`` is out of range.

    .. admonition:: Example

        >>> a, b = np.zeros(3, np.float32), np.ones(3, np.float32)
        >>> F.stack((a, b), axis=1).array
        array([[0., 1.],
               [0., 1.],
               [0., 1.]], dtype=float32)

    """
    return Stack(axis).apply(xs)[0]
