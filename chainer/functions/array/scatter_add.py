"""Addition at an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation
from chainer.functions.array.get_item import GetItem, _add_at, _for_array, _parse_slices
from chainer.utils import type_check
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class ScatterAdd(Operation):
    """Adds values to the elements at an index."""

    # ChainerX needs the places of all elements, and looks them up by NumPy.
    _kernels = NO_KERNELS

    def __init__(self, slices: Any) -> None:
        self.slices: tuple[Any, ...] = _parse_slices(slices)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a', 'b'))
        consumed = 0
        for s in self.slices:
            if s is None or s is Ellipsis:
                continue
            is_mask = getattr(s, 'dtype', None) is not None and s.dtype.kind == 'b'
            consumed += s.ndim if is_mask else 1
        n = type_check.make_variable(consumed, 'number of indexed axes')
        type_check.expect(in_types[0].ndim >= n)

    @staticmethod
    def _check_shape(expected, given):
        if given != expected:
            raise ValueError(
                f'b must have the shape of a[slices]: {given} given, {expected} expected'
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        a, b = inputs
        y = a.copy()
        slices = _for_array(self.slices, a)
        self._check_shape(y[slices].shape, b.shape)
        _add_at(y, slices, b.astype(y.dtype, copy=False))
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        a, b = inputs
        places = numpy.arange(a.size).reshape(a.shape)
        places = numpy.asarray(places[_for_array(self.slices, places)])
        self._check_shape(places.shape, b.shape)
        y = _internal.add_at(a.reshape(-1), sent_like(a, places), b.astype(a.dtype, copy=False))
        return (y.reshape(a.shape),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        return [
            m.cast(m.apply(GetItem(self.slices), gys)[0], self.inputs[1].dtype) if i else gy
            for i in targets
        ]


def scatter_add(a: VariableLike, slices: Any, b: VariableLike) -> Variable:
    """Adds values to the elements of an array at an index.

    Unlike ``a[slices] += b``, it does not change ``a``, and it accumulates values at repeated
    elements of the index.

    Args:
        a (:class:`~chainer.Variable` or array): Input of any dtype.
        slices (int, slice, Ellipsis, None, integer or boolean array, or tuple of such): Index,
            as understood by NumPy. A list of ints is an integer array.
        b (:class:`~chainer.Variable` or array): Values, of the shape of ``a[slices]`` and
            the dtype of ``a``.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``a``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If there are more indexes than axes or the
            dtypes differ.
        ValueError: If the shape of ``b`` is wrong, or (in debug mode) the index has two ellipses.

    .. admonition:: Example

        >>> a, b = np.zeros(3, np.float32), np.ones(2, np.float32)
        >>> F.scatter_add(a, [1, 1], b).array
        array([0., 2., 0.], dtype=float32)

    """
    return ScatterAdd(slices).apply((a, b))[0]
