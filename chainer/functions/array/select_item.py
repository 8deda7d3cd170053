"""Selection of one element per row."""

from __future__ import annotations

import numpy

import chainer
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions._base import sent_like
from chainer.utils import type_check


class SelectItem(FunctionNode):
    """Selects an element of each row."""

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            t_type.dtype.kind == 'i',
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
        )

    def forward(self, inputs):
        x, t = inputs
        self.retain_inputs((1,))
        if chainer.is_debug() and not ((0 <= t).all() and (t < x.shape[1]).all()):
            raise ValueError('Each label t must satisfy 0 <= t < x.shape[1]')
        return (x[sent_like(x, numpy.arange(t.size)), t],)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def backward(self, target_input_indexes, grad_outputs):
        t = self.get_retained_inputs()[0].array
        x = self.inputs[0]
        (gx,) = Assign(x.shape, x.dtype, t).apply(grad_outputs)
        return tuple([gx if i == 0 else None for i in target_input_indexes])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        x = self.inputs[0]
        (gx,) = Assign(x.shape, x.dtype, self._retained_arrays()[0][0]).forward(grad_outputs)
        return tuple([gx if i == 0 else None for i in target_input_indexes])


class Assign(FunctionNode):
    """Puts a value into each row of zeros."""

    def __init__(self, shape, dtype, t):
        self.shape = shape
        self.dtype = dtype
        self.t = t

    def forward(self, inputs):
        (gy,) = inputs
        xp = cuda.get_array_module(gy)
        gx = xp.zeros(self.shape, self.dtype)
        gx[xp.arange(self.t.size), self.t] = gy
        return (gx,)

    def backward(self, target_input_indexes, grad_outputs):
        return SelectItem().apply((grad_outputs[0], self.t))


def select_item(x, t):
    """Selects an element of each row: ``y[i] = x[i, t[i]]``.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(N, M)`` and of any
            dtype.
        t (:class:`~chainer.Variable` or array of int): Columns, of shape ``(N,)``.

    Returns:
        ~chainer.Variable: Output of shape ``(N,)`` and of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes are wrong.
        ValueError: If an element of ``t`` is not a column (in debug mode).

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32).reshape(2, 3)
        >>> F.select_item(x, np.array([0, 2])).array
        array([0., 5.], dtype=float32)

    """
    return SelectItem().apply((x, t))[0]
