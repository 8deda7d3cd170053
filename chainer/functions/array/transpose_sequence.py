"""Transposition of sequences."""

from __future__ import annotations

import numpy

import chainer
import chainerx
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.utils import type_check


def _transpose(xs, length):
    """Arrays of the ``t``-th elements of all arrays longer than ``t``."""
    xp = cuda.get_array_module(*xs)
    lengths = [len(x) for x in xs]
    ys = []
    n = len(xs)
    for t in range(length):
        while n and lengths[n - 1] <= t:
            n -= 1
        y = xp.empty((n, *xs[0].shape[1:]), xs[0].dtype)
        for i in range(n):
            y[i] = xs[i][t]
        ys.append(y)
    return tuple(ys)


class TransposeSequence(FunctionNode):
    """Transposes a list of sequences."""

    def __init__(self, length):
        self.length = length

    def check_type_forward(self, in_types):
        first = in_types[0]
        type_check.expect(first.ndim > 0)
        for i in range(1, type_check.eval(in_types.size())):
            type_check.expect(
                in_types[i].ndim == first.ndim,
                in_types[i].dtype == first.dtype,
                in_types[i].shape[1:] == first.shape[1:],
                in_types[i - 1].shape[0] >= in_types[i].shape[0],
            )

    def forward(self, inputs):
        return _transpose(inputs, self.length)

    def forward_chainerx(self, inputs):
        if self.length == 0:
            return ()
        # The elements of all sequences in the order of the results.
        lengths = [len(x) for x in inputs]
        starts = numpy.cumsum([0, *lengths[:-1]])
        counts = [sum([n > t for n in lengths]) for t in range(self.length)]
        order = numpy.concatenate([starts[:n] + t for t, n in enumerate(counts)])
        rows = chainerx.concatenate(inputs, axis=0).take(order, axis=0)
        return tuple(chainerx.split(rows, numpy.cumsum(counts[:-1]).tolist()))

    def _filled(self, gys):
        """Gradients of all outputs; zeros replace those of unused ones."""
        array = chainer.as_array(next(gy for gy in gys if gy is not None))
        xp = cuda.get_array_module(array)
        lengths = [x.shape[0] for x in self.inputs]
        return [
            gy
            if gy is not None
            else xp.zeros((sum([n > t for n in lengths]), *array.shape[1:]), array.dtype)
            for t, gy in enumerate(gys)
        ]

    def backward(self, target_input_indexes, grad_outputs):
        gxs = TransposeSequence(len(self.inputs)).apply(self._filled(grad_outputs))
        return tuple([gxs[i] for i in target_input_indexes])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        gxs = _transpose(self._filled(grad_outputs), len(self.inputs))
        return tuple([gxs[i] for i in target_input_indexes])


def transpose_sequence(xs):
    """Transposes a list of sequences: from one array per sequence to one per time step.

    Args:
        xs (list of :class:`~chainer.Variable` or array): Sequences of shape ``(L_i, ...)``
            and of any dtype, in descending order of length and otherwise equal.

    Returns:
        tuple of ~chainer.Variable: The ``t``-th output contains the ``t``-th elements of all
        sequences that are long enough, with the shape ``(B_t, ...)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If lengths increase, or dtypes or other axes
            differ.

    .. admonition:: Example

        >>> xs = [np.array([1, 2], np.float32), np.array([3], np.float32)]
        >>> [y.array.tolist() for y in F.transpose_sequence(xs)]
        [[1.0, 3.0], [2.0]]

    """
    if len(xs) == 0:
        return ()
    return TransposeSequence(xs[0].shape[0]).apply(xs)
