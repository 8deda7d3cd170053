"""Permutation of elements along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend
from chainer._core.settings.debug import is_debug
from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _check_indices(indices):
    indices = cuda.to_cpu(indices)
    n = len(indices)
    outside = indices[(indices < 0) | (indices >= n)]
    if outside.size:
        raise ValueError(f'Out of bounds index: {outside[0]}')
    values, counts = numpy.unique(indices, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f'indices contains duplicate value: {values[counts > 1][0]}')


def _inverse(indices):
    xp = cuda.get_array_module(indices)
    inverse = xp.empty_like(indices)
    inverse[indices] = xp.arange(len(indices), dtype=indices.dtype)
    return inverse


class Permutate(_base.Operation):
    """Permutes elements along an axis."""

    _kernels = _base.kernels(least_size=4096)

    def __init__(self, indices: VariableLike, axis: int, inv: bool) -> None:
        self.indices = indices
        self.axis = axis
        self.inv = inv

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        (x_type,) = in_types
        type_check.expect(x_type.ndim > 0)
        _arguments.expect_axis(x_type, (self.axis,))
        n = type_check.make_variable(len(self.indices), 'len(indices)')
        type_check.expect(x_type.shape[self.axis] == n)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        indices = backend.from_chx(self.indices)
        if is_debug():
            _check_indices(indices)
        if cuda.get_array_module(x) is not numpy:
            indices = cuda.to_gpu(indices)
        elif not isinstance(indices, numpy.ndarray):
            indices = cuda.to_cpu(indices)
        return (x.take(_inverse(indices) if self.inv else indices, self.axis),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        indices = cuda.to_cpu(self.indices)
        if is_debug():
            _check_indices(indices)
        return (inputs[0].take(_inverse(indices) if self.inv else indices, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(Permutate(self.indices, self.axis, not self.inv), gys)


def permutate(x: VariableLike, indices: VariableLike, axis: int = 0, inv: bool = False) -> Variable:
    """Permutes elements along an axis.

    The output is ``x.take(indices, axis)``; ``inv`` inverts this.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        indices (:class:`~chainer.Variable` or array of int): Permutation, one-dimensional.
        axis (int): Axis.
        inv (bool): Whether to apply the inverse permutation.

    Returns:
        ~chainer.Variable: Permuted array of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range or has another
            length than ``indices``.
        ValueError: If ``indices`` is not a one-dimensional array of ints or (checked in debug
            mode) not a permutation.

    .. admonition:: Example

        >>> x = np.arange(3, dtype=np.float32)
        >>> F.permutate(x, np.array([2, 0, 1])).array
        array([2., 0., 1.], dtype=float32)
        >>> F.permutate(x, np.array([2, 0, 1]), inv=True).array
        array([1., 2., 0.], dtype=float32)

    """
    indices = as_array(indices)
    if indices.dtype.kind != 'i' or indices.ndim != 1:
        raise ValueError(
            'indices must be a one-dimensional array of ints, got shape '
            f'{indices.shape} and dtype {indices.dtype}'
        )
    return Permutate(indices, axis, inv).apply((x,))[0]
