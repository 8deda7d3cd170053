"""Splitting."""

from __future__ import annotations

import collections.abc
import numbers
from typing import TYPE_CHECKING, Any, Literal, overload

import chainerx
from chainer._core.devices.array_types import get_array_types
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions._arguments import expect_axis, parse_int
from chainer.functions.array._views import View
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class SplitAxis(View):
    """Splits an array along an axis."""

    # ChainerX takes positions beyond the end: inputs are checked before.
    _kernels = NO_KERNELS
    sections: int | None
    indices: list[int] | None

    def __init__(self, indices_or_sections: int | Sequence[int] | NdArray, axis: int) -> None:
        given: Any = indices_or_sections
        if isinstance(given, get_array_types()):
            given = cuda.to_cpu(given)
        if getattr(given, 'ndim', None) == 0:
            given = given.item()
        self.sections = self.indices = None
        if isinstance(given, numbers.Integral):
            self.sections = int(given)
        elif isinstance(given, collections.abc.Iterable) and getattr(given, 'ndim', 1) == 1:
            self.indices = [parse_int(i, 'an index') for i in given]
        else:
            raise TypeError(f'indices_or_sections must be integer or 1-D array, not {given!r}')
        self.axis: int = parse_int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        expect_axis(in_types[0], (self.axis,))
        length = in_types[0].shape[self.axis]
        if self.sections is not None:
            sections = type_check.make_variable(self.sections, 'sections')
            type_check.expect(length % sections == 0, sections > 0)
        elif self.indices:
            type_check.expect(length >= type_check.make_variable(self.indices[-1], 'max_index'))

    def _bounds(self, length):
        """Start and end of every part."""
        if self.sections is not None:
            step = length // self.sections
            return [(i * step, (i + 1) * step) for i in range(self.sections)]
        indices = self.indices or []
        return list(zip([0, *indices], [*indices, length]))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        sections: Any = self.indices if self.sections is None else self.sections
        return tuple(chainerx.split(inputs[0], sections, self.axis))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        before = (slice(None),) * (self.axis % x.ndim)
        return tuple(
            [x[before + (slice(start, stop),)] for start, stop in self._bounds(x.shape[self.axis])]
        )

    def _shapes(self):
        x_shape = self.inputs[0].shape
        axis = self.axis % len(x_shape)
        return [
            x_shape[:axis] + (max(stop - start, 0),) + x_shape[axis + 1 :]
            for start, stop in self._bounds(x_shape[axis])
        ]

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        if any([gy is None for gy in gys]):
            # Zeros stand for the gradients of unused outputs.
            array = as_array(next(gy for gy in gys if gy is not None))
            xp = cuda.get_array_module(array)
            gys = [
                xp.zeros(shape, array.dtype) if gy is None else gy
                for gy, shape in zip(gys, self._shapes())
            ]
        return (m.concat(gys, self.axis),)


@overload
def split_axis(
    x: VariableLike,
    indices_or_sections: int | Sequence[int] | NdArray,
    axis: int,
    force_tuple: Literal[True] = ...,
) -> tuple[Variable, ...]: ...
@overload
def split_axis(
    x: VariableLike,
    indices_or_sections: int | Sequence[int] | NdArray,
    axis: int,
    force_tuple: bool,
) -> Variable | tuple[Variable, ...]: ...
def split_axis(
    x: VariableLike,
    indices_or_sections: int | Sequence[int] | NdArray,
    axis: int,
    force_tuple: bool = True,
) -> Variable | tuple[Variable, ...]:
    """Splits an array along an axis.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        indices_or_sections (int or 1-D sequence of int): Number of equal parts, or the
            split positions.
        axis (int): Axis to split.
        force_tuple (bool): Whether to return a tuple even for a single part.

    Returns:
        tuple of ~chainer.Variable: Parts, in the shape and dtype of ``x`` but shorter along
        ``axis``; a single variable if there is one part and ``force_tuple`` is ``False``.

    Raises:
        TypeError: If ``indices_or_sections`` is neither an int nor a sequence of ints, or
            ``axis`` is not an int.
        ZeroDivisionError: If it is zero.
        ~chainer.utils.type_check.InvalidType: If the split does not fit the axis.

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32)
        >>> [y.array.tolist() for y in F.split_axis(x, [1, 3], axis=0)]
        [[0.0], [1.0, 2.0], [3.0, 4.0, 5.0]]

    """
    ys = SplitAxis(indices_or_sections, axis).apply((x,))
    return ys if force_tuple or len(ys) != 1 else ys[0]
