"""Tiling."""

from __future__ import annotations

import chainer
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class Tile(FunctionNode):
    """Repeats a whole array along each axis."""

    def __init__(self, reps):
        if isinstance(reps, int):
            reps = (reps,)
        elif not (isinstance(reps, tuple) and all([isinstance(n, int) for n in reps])):
            raise TypeError(f'reps must be int or tuple of ints, not {reps!r}')
        if not all([n >= 0 for n in reps]):
            raise ValueError(f'all elements in reps must be zero or larger, got {reps}')
        self.reps = reps

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))

    def forward_chainerx(self, inputs):
        return _base.call_chainerx('tile', inputs[0], self.reps)

    def forward(self, inputs):
        (x,) = inputs
        return (cuda.get_array_module(x).tile(x, self.reps),)

    def _gradient(self, m, gy):
        shape = self.inputs[0].shape
        ndim = max(len(shape), len(self.reps))
        reps = (1,) * (ndim - len(self.reps)) + self.reps
        lengths = (1,) * (ndim - len(shape)) + shape
        # Split each axis into repetitions and elements, and sum over the repetitions.
        pairs = tuple([n for pair in zip(reps, lengths) for n in pair])
        gx = m.sum(gy.reshape(pairs), axis=tuple(range(0, 2 * ndim, 2)))
        return (gx.reshape(shape),)

    def backward(self, target_input_indexes, grad_outputs):
        return self._gradient(chainer.functions, grad_outputs[0])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (gy,) = grad_outputs
        return self._gradient(cuda.get_array_module(gy), gy)


def tile(x, reps):
    """Repeats a whole array along each axis.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        reps (int or tuple of int): Number of repetitions of each axis. Leading ones extend the
            shorter of ``x.shape`` and ``reps``.

    Returns:
        ~chainer.Variable: Tiled array.

    Raises:
        TypeError: If ``reps`` is neither an int nor a tuple of ints.
        ValueError: If a number of repetitions is negative.

    .. admonition:: Example

        >>> F.tile(np.array([1, 2], np.float32), (2, 2)).array
        array([[1., 2., 1., 2.],
               [1., 2., 1., 2.]], dtype=float32)

    """
    return Tile(reps).apply((x,))[0]
