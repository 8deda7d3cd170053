"""Tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Tile(_base.Operation):
    """Repeats a whole array along each axis."""

    _kernels = _base.kernels(least_size=4096)

    def __init__(self, reps: int | tuple[int, ...]) -> None:
        self.reps: tuple[int, ...] = _arguments.parse_ints(reps, 'reps')
        if not all([n >= 0 for n in self.reps]):
            raise ValueError(f'all elements in reps must be zero or larger, got {reps}')

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('tile', inputs[0], self.reps)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (cuda.get_array_module(x).tile(x, self.reps),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        shape = self.inputs[0].shape
        ndim = max(len(shape), len(self.reps))
        reps = (1,) * (ndim - len(self.reps)) + self.reps
        lengths = (1,) * (ndim - len(shape)) + shape
        # Split each axis into repetitions and elements, and sum over the repetitions.
        pairs = tuple([n for pair in zip(reps, lengths) for n in pair])
        gx = m.sum(gys[0].reshape(pairs), axis=tuple(range(0, 2 * ndim, 2)))
        return (gx.reshape(shape),)


def tile(x: VariableLike, reps: int | tuple[int, ...]) -> Variable:
    """Repeats a whole array along each axis.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        reps (int or tuple of int): Number of repetitions of each axis. Leading ones extend the
            shorter of ``x.shape`` and ``reps``.

    Returns:
        ~chainer.Variable: Array of the dtype of ``x``, whose axes are ``reps`` times as long.

    Raises:
        TypeError: If ``reps`` is neither an int nor a tuple of ints.
        ValueError: If a number of repetitions is negative.

    .. admonition:: Example

        >>> F.tile(np.array([1, 2], np.float32), (2, 2)).array
        array([[1., 2., 1., 2.],
               [1., 2., 1., 2.]], dtype=float32)

    """
    return Tile(reps).apply((x,))[0]
