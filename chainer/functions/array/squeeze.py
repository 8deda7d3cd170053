"""Removal of axes."""

from __future__ import annotations

from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


def argone(iterable):
    """Returns the indexes of ones in a sequence of ints.

    Args:
        iterable (iterable of int): Sequence, such as a shape.

    Returns:
        list of int: Indexes.

    Raises:
        ValueError: If an element is not an int.

    .. admonition:: Example

        >>> argone((1, 3, 1))
        [0, 2]

    """
    result = []
    for i, n in enumerate(iterable):
        if not isinstance(n, int):
            raise ValueError(f'elements in iterable must be int, got {n!r}')
        if n == 1:
            result.append(i)
    return result


class Squeeze(FunctionNode):
    """Removes axes of length one."""

    _checked_natively = True

    def __init__(self, axis=None):
        if axis is None:
            self.axis = None
        elif isinstance(axis, int):
            self.axis = (axis,)
        elif isinstance(axis, tuple) and all([isinstance(a, int) for a in axis]):
            self.axis = axis
        else:
            raise TypeError(f'axis must be None, int or tuple of ints, not {axis!r}')

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        _base.expect_axis(in_types[0], self.axis)

    def forward_chainerx(self, inputs):
        return (inputs[0].squeeze(self.axis),)

    def forward(self, inputs):
        return (inputs[0].squeeze(self.axis),)

    def backward(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0].reshape(self.inputs[0].shape),)

    _backward_arrays = backward


def squeeze(x, axis=None):
    """Removes axes of length one.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axis (None, int or tuple of int): Axes to remove (``None``: all of length one).

    Returns:
        ~chainer.Variable: View of ``x`` without these axes.

    Raises:
        TypeError: If the type of ``axis`` is wrong.
        ValueError: If the length of a given axis is not one.
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range.

    .. admonition:: Example

        >>> F.squeeze(np.zeros((1, 2, 1), np.float32)).shape
        (2,)

    """
    return Squeeze(axis).apply((x,))[0]
