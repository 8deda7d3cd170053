"""Transposition of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


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


class TransposeSequence(Operation):
    """Transposes a list of sequences."""

    # NumPy's code copies once, ChainerX twice.
    _kernels = NO_KERNELS

    def __init__(self, length: int) -> None:
        self.length = length

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        first = in_types[0]
        type_check.expect(first.ndim > 0)
        for i in range(1, type_check.eval(in_types.size())):
            type_check.expect(
                in_types[i].ndim == first.ndim,
                in_types[i].dtype == first.dtype,
                in_types[i].shape[1:] == first.shape[1:],
                in_types[i - 1].shape[0] >= in_types[i].shape[0],
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return _transpose(inputs, self.length)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if self.length == 0:
            return ()
        # The elements of all sequences, in the order in which the results have them.
        lengths = [len(x) for x in inputs]
        starts = numpy.cumsum([0, *lengths[:-1]])
        counts = [sum([n > t for n in lengths]) for t in range(self.length)]
        order = numpy.concatenate([starts[:n] + t for t, n in enumerate(counts)])
        indices = chainerx.array(order, device=inputs[0].device)
        rows = chainerx.concatenate(inputs, axis=0).take(indices, axis=0)
        return tuple(chainerx.split(rows, numpy.cumsum(counts[:-1]).tolist()))

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        # Zeros stand for the gradients of unused outputs.
        array = as_array(next(gy for gy in gys if gy is not None))
        xp = cuda.get_array_module(array)
        lengths = [x.shape[0] for x in self.inputs]
        filled = [
            gy
            if gy is not None
            else xp.zeros((sum([n > t for n in lengths]), *array.shape[1:]), array.dtype)
            for t, gy in enumerate(gys)
        ]
        gxs = m.apply(TransposeSequence(len(self.inputs)), filled)
        return [gxs[i] for i in targets]


def transpose_sequence(xs: Sequence[VariableLike]) -> tuple[Variable, ...]:
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
