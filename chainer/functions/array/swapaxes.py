"""Exchange of two axes."""

from __future__ import annotations

from chainer.function_node import FunctionNode
from chainer.utils import type_check


class Swapaxes(FunctionNode):
    """Exchanges two axes."""

    _checked_natively = True

    def __init__(self, axis1, axis2):
        self.axis1 = axis1
        self.axis2 = axis2

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))

    def forward_chainerx(self, inputs):
        return (inputs[0].swapaxes(self.axis1, self.axis2),)

    def forward(self, inputs):
        return (inputs[0].swapaxes(self.axis1, self.axis2),)

    def backward(self, target_input_indexes, grad_outputs):
        return Swapaxes(self.axis1, self.axis2).apply(grad_outputs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0].swapaxes(self.axis1, self.axis2),)


def swapaxes(x, axis1, axis2):
    """Exchanges two axes.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis1 (int): First axis.
        axis2 (int): Second axis.

    Returns:
        ~chainer.Variable: View of ``x`` with the axes swapped.

    Raises:
        ValueError: If an axis is out of range (:class:`numpy.exceptions.AxisError`).

    .. admonition:: Example

        >>> F.swapaxes(np.zeros((2, 3, 4), np.float32), 0, 2).shape
        (4, 3, 2)

    """
    return Swapaxes(axis1, axis2).apply((x,))[0]
