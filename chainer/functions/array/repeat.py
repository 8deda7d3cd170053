"""Repetition of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.functions import _arguments, _base
from chainer.functions.array.get_item import GetItemGrad
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _count(number):
    """``True`` repeats once, ``False`` never, as in NumPy."""
    return int(number) if isinstance(number, (bool, numpy.bool_)) else number


class Repeat(_base.Operation):
    """Repeats elements along an axis."""

    repeats: tuple[int, ...]

    _kernels = _base.kernels(least_size=4096)

    def __init__(self, repeats: int | tuple[int, ...], axis: int | None = None) -> None:
        counts = tuple(map(_count, repeats)) if isinstance(repeats, tuple) else _count(repeats)
        self.repeats = _arguments.parse_ints(counts, 'repeats')
        if not all([n >= 0 for n in self.repeats]):
            raise ValueError(f'all elements in repeats must be zero or larger, got {repeats}')
        self.axis: int | None = _arguments.parse_single_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        (x_type,) = in_types
        if self.axis is not None:
            _arguments.expect_axis(x_type, (self.axis,))
        if len(self.repeats) != 1:
            n = type_check.make_variable(len(self.repeats), 'len(repeats)')
            length = type_check.prod(x_type.shape) if self.axis is None else x_type.shape[self.axis]
            type_check.expect(length == n)

    @property
    def _numpy_repeats(self):
        return self.repeats[0] if len(self.repeats) == 1 else self.repeats

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (inputs[0].repeat(self._numpy_repeats, self.axis),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        # CuPy wants a list, NumPy takes it as well.
        repeats = self._numpy_repeats
        return (
            inputs[0].repeat(list(repeats) if isinstance(repeats, tuple) else repeats, self.axis),
        )

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        shape = self.inputs[0].shape
        axis = 0 if self.axis is None else self.axis % len(shape)
        lengths = (int(numpy.prod(shape)),) if self.axis is None else shape
        sources = numpy.repeat(numpy.arange(lengths[axis]), self._numpy_repeats)
        slices = (slice(None),) * axis + (sources,)
        (gx,) = m.apply(GetItemGrad(slices, lengths), gys)
        return (gx.reshape(shape),)


def repeat(x: VariableLike, repeats: int | tuple[int, ...], axis: int | None = None) -> Variable:
    """Repeats elements along an axis.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        repeats (int or tuple of int): Number of repetitions of each element; a single number
            applies to all.
        axis (int or None): Axis (``None``: flattens ``x`` first).

    Returns:
        ~chainer.Variable: Array of the dtype of ``x`` and its shape, but as many times longer along
        ``axis`` as elements are repeated; without ``axis``, of one dimension.

    Raises:
        TypeError: If the type of an argument is wrong.
        ValueError: If a number of repetitions is negative.
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range or ``repeats`` does
            not fit the length of the axis.

    .. admonition:: Example

        >>> F.repeat(np.array([1, 2, 3], np.float32), (2, 0, 1)).array
        array([1., 1., 3.], dtype=float32)

    """
    return Repeat(repeats, axis).apply((x,))[0]
