"""Concatenation."""

from __future__ import annotations

import numbers

import chainer
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


def _expect_alike(in_types, axis):
    """Type check that inputs are of one dtype, and of one shape except for ``axis``."""
    first = in_types[0]
    ndim = type_check.eval(first.ndim)
    for i in range(1, type_check.eval(in_types.size())):
        type_check.expect(first.dtype == in_types[i].dtype, first.ndim == in_types[i].ndim)
        for d in range(ndim):
            if d != axis:
                type_check.expect(first.shape[d] == in_types[i].shape[d])


class Concat(FunctionNode):
    """Joins arrays along an axis."""

    _checked_natively = True

    def __init__(self, axis=1):
        if not isinstance(axis, numbers.Integral):
            raise TypeError(f'axis must be int, not {axis!r}')
        self.axis = axis

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() > 0)
        axis = type_check.make_variable(self.axis, 'axis')
        type_check.expect(in_types[0].ndim > axis, -in_types[0].ndim <= axis)
        _expect_alike(in_types, self.axis % type_check.eval(in_types[0].ndim))

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('concatenate', inputs, self.axis)

    def forward(self, inputs):
        return (cuda.get_array_module(*inputs).concatenate(inputs, self.axis),)

    def _pieces(self, targets, gy):
        """Parts of an array or variable that belong to the targets."""
        before = (slice(None),) * (self.axis % gy.ndim)
        starts = [0]
        for x in self.inputs:
            starts.append(starts[-1] + x.shape[len(before)])
        return tuple([gy[before + (slice(starts[i], starts[i + 1]),)] for i in targets])

    def backward(self, target_input_indexes, grad_outputs):
        if len(target_input_indexes) < len(self.inputs):
            return self._pieces(target_input_indexes, grad_outputs[0])
        sections = []
        for x in self.inputs[:-1]:
            sections.append((sections[-1] if sections else 0) + x.shape[self.axis])
        return chainer.functions.split_axis(grad_outputs[0], sections, self.axis)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        return self._pieces(target_input_indexes, grad_outputs[0])


def concat(xs, axis=1):
    """Joins arrays along an axis.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype, and of
            one shape except for ``axis``.
        axis (int): Axis to join along.

    Returns:
        ~chainer.Variable: Joined array, of the dtype of the inputs; a single input is unchanged.

    Raises:
        TypeError: If ``axis`` is not an int.
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty, its arrays do not fit, or
            they have no such axis.

    .. admonition:: Example

        >>> a, b = np.zeros((2, 1), np.float32), np.ones((2, 2), np.float32)
        >>> F.concat((a, b), axis=1).array
        array([[0., 1., 1.],
               [0., 1., 1.]], dtype=float32)

    """
    if len(xs) == 1:
        return chainer.as_variable(xs[0])
    return Concat(axis).apply(xs)[0]
