"""Padding of sequences to a common length."""

from __future__ import annotations

import chainerx
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class PadSequence(FunctionNode):
    """Pads arrays of different lengths into one array."""

    def __init__(self, length, padding):
        self.length = length
        self.padding = padding

    def check_type_forward(self, in_types):
        n = type_check.eval(in_types.size())
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        type_check.expect(first.ndim > 0)
        for i in range(n):
            type_check.expect(
                in_types[i].ndim == first.ndim,
                in_types[i].shape[1:] == first.shape[1:],
                in_types[i].dtype == first.dtype,
            )
            if self.length is not None:
                length = type_check.make_variable(self.length, 'length')
                type_check.expect(in_types[i].shape[0] <= length)

    def forward(self, inputs):
        xp = cuda.get_array_module(*inputs)
        length = self.length
        if length is None:
            length = max([len(x) for x in inputs])
        y = xp.full((len(inputs), length, *inputs[0].shape[1:]), self.padding, inputs[0].dtype)
        for i, x in enumerate(inputs):
            y[i, : len(x)] = x
        return (y,)

    def forward_chainerx(self, inputs):
        length = self.length
        if length is None:
            length = max([len(x) for x in inputs])
        ys = []
        for x in inputs:
            if len(x) < length:
                rest = chainerx.full(
                    (length - len(x), *x.shape[1:]), self.padding, x.dtype, device=x.device
                )
                x = chainerx.concatenate([x, rest], axis=0)
            ys.append(x)
        return (chainerx.stack(ys),)

    def backward(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        return tuple([gy[i, : self.inputs[i].shape[0]] for i in target_input_indexes])

    _backward_arrays = backward


def pad_sequence(xs, length=None, padding=0):
    """Pads arrays of different lengths into one array, padded at the end.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of shape
            ``(L_i, ...)`` and of any dtype, equal except for the length.
        length (int or None): Common length (``None``: that of the longest).
        padding (int or float): Padding value.

    Returns:
        ~chainer.Variable: Output of shape ``(len(xs), length, ...)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty, its arrays differ in dtype
            or in the other axes, or one is longer than ``length``.

    .. admonition:: Example

        >>> F.pad_sequence([np.ones(1, np.float32), np.ones(2, np.float32)]).array
        array([[1., 0.],
               [1., 1.]], dtype=float32)

    """
    return PadSequence(length, padding).apply(xs)[0]
