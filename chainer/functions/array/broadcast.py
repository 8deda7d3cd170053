"""Broadcasting."""

from __future__ import annotations

import chainer
import chainerx
from chainer import utils
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class Broadcast(FunctionNode):
    """Broadcasts several arrays to one shape."""

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() > 0)
        type_check.expect_broadcast_shapes(*[x.shape for x in in_types])

    def forward(self, inputs):
        xp = cuda.get_array_module(*inputs)
        return tuple(xp.broadcast_arrays(*inputs))

    def forward_chainerx(self, inputs):
        return tuple(chainerx.broadcast_arrays(*inputs))

    def _sums(self, sum_to, targets, gys):
        return tuple(
            [None if gys[i] is None else sum_to(gys[i], self.inputs[i].shape) for i in targets]
        )

    def backward(self, target_input_indexes, grad_outputs):
        return self._sums(chainer.functions.sum_to, target_input_indexes, grad_outputs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        return self._sums(utils.sum_to, target_input_indexes, grad_outputs)


class BroadcastTo(FunctionNode):
    """Broadcasts an array to a given shape."""

    _checked_natively = True

    def __init__(self, shape):
        self._shape = tuple(shape)

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        ndim = type_check.make_variable(len(self._shape), 'len(shape)')
        type_check.expect(in_types[0].ndim <= ndim)
        shape = type_check.eval(in_types[0].shape)
        for i in range(-1, -len(shape) - 1, -1):
            n = self._shape[i]
            if shape[i] not in (1, n):
                either = '' if n == 1 else f' or x.shape[{i}] == 1'
                raise type_check.InvalidType(f'x.shape[{i}] == {n}{either}', f'x.shape: {shape}')

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('broadcast_to', inputs[0], self._shape)

    def forward(self, inputs):
        (x,) = inputs
        return (cuda.get_array_module(x).broadcast_to(x, self._shape),)

    def backward(self, target_input_indexes, grad_outputs):
        return (chainer.functions.sum_to(grad_outputs[0], self.inputs[0].shape),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        return (utils.sum_to(grad_outputs[0], self.inputs[0].shape),)


def broadcast(*args):
    """Broadcasts arrays to their common shape.

    Args:
        args (:class:`~chainer.Variable` or array): Inputs of any dtypes with broadcastable
            shapes.

    Returns:
        tuple of ~chainer.Variable: The inputs in the common shape, each in its dtype.

    Raises:
        ~chainer.utils.type_check.InvalidType: If there is no input or the shapes do not
            fit.

    .. admonition:: Example

        >>> a, b = F.broadcast(np.zeros((2, 1), np.float32), np.ones(3, np.float32))
        >>> a.shape, b.shape
        ((2, 3), (2, 3))

    """
    if args and all([x.shape == args[0].shape for x in args]):
        return tuple([chainer.as_variable(x) for x in args])
    return Broadcast().apply(args)


def broadcast_to(x, shape):
    """Broadcasts an array to a shape.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        shape (tuple of int): Shape of the output.

    Returns:
        ~chainer.Variable: Read-only view of ``x`` with the shape ``shape``; ``x`` itself if it
        already has that shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` cannot be broadcast to ``shape``.

    .. admonition:: Example

        >>> F.broadcast_to(np.arange(2, dtype=np.float32), (3, 2)).array
        array([[0., 1.],
               [0., 1.],
               [0., 1.]], dtype=float32)

    """
    if x.shape == tuple(shape):
        return chainer.as_variable(x)
    return BroadcastTo(shape).apply((x,))[0]
