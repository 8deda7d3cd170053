"""Indexing."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, utils, variable
from chainer._core.names.namespace import operators
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.debug import is_debug
from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.functions._scatter import add_rows
from chainer.functions.array._views import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


def _parse_slices(slices):
    """Converts an index to a tuple, and its ChainerX arrays and variables to plain arrays."""
    if isinstance(slices, list):
        # A list of ints is one index array, any other list stands for a tuple.
        if all([isinstance(s, numbers.Integral) for s in slices]):
            slices = (slices,)
    elif not isinstance(slices, tuple):
        slices = (slices,)
    slices = tuple([s.array if isinstance(s, variable.Variable) else s for s in slices])
    if is_debug() and sum([s is Ellipsis for s in slices]) > 1:
        raise ValueError('Only one Ellipsis is allowed')
    return slices


def _for_array(slices, array):
    """Returns an index with its arrays in the module of ``array``, NumPy or CuPy."""
    if _is_basic(slices):
        return slices
    slices = [backend.from_chx(s) if isinstance(s, chainerx.ndarray) else s for s in slices]
    if not isinstance(array, numpy.ndarray):
        slices = [cuda.to_gpu(s) if isinstance(s, numpy.ndarray) else s for s in slices]
    return tuple(slices)


def _is_basic(slices):
    """Returns whether an index has no arrays, so that it selects each element at most once."""
    return all(
        [
            s is None
            or s is Ellipsis
            or isinstance(s, slice)
            or (isinstance(s, numbers.Integral) and not isinstance(s, (bool, numpy.bool_)))
            for s in slices
        ]
    )


def _add_at(array, slices, values):
    """``array[slices] += values`` that accumulates repeated elements."""
    if _is_basic(slices):
        array[slices] += values
        return
    if len(slices) == 1:
        index = cuda.get_array_module(array).asarray(slices[0])
        if index.dtype.kind in 'iu' and index.ndim:
            add_rows(array, index.ravel(), values.reshape(index.size, *array.shape[1:]))
            return
    cuda.get_array_module(array).add.at(array, slices, values)


class GetItem(View):
    """Takes elements by an index."""

    def __init__(self, slices: Any) -> None:
        self.slices: tuple[Any, ...] = _parse_slices(slices)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        for s in self.slices:
            if s is True or s is False:
                return Fallback('index True or False')
        return (x[self.slices],)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (utils.force_array(inputs[0][_for_array(self.slices, inputs[0])]),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(GetItemGrad(self.slices, self.inputs[0].shape), gys)


class GetItemGrad(Operation):
    """Adds values at an index to an array of zeros."""

    def __init__(self, slices: Any, in_shape: tuple[int, ...]) -> None:
        self.slices = slices
        self._in_shape = in_shape

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (gy,) = inputs
        gx = cuda.get_array_module(gy).zeros(self._in_shape, gy.dtype)
        if _is_basic(self.slices):
            gx[self.slices] = gy
        else:
            _add_at(gx, _for_array(self.slices, gx), gy)
        return (gx,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(GetItem(self.slices), gys)


def get_item(x: VariableLike, slices: Any) -> Variable:
    """Takes elements of an array by an index; also written ``x[slices]``.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        slices (int, slice, Ellipsis, None, integer or boolean array, or tuple of such): Index
            with NumPy's meaning. A list of ints is an integer array.

    Returns:
        ~chainer.Variable: ``x[slices]``, of the shape that NumPy gives it. Gradients of
        repeated elements add up.

    Raises:
        IndexError: If the index does not fit ``x``.
        ValueError: If it has two ellipses (in debug mode).

    .. admonition:: Example

        >>> x = chainer.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
        >>> x[1, ::2].array
        array([3., 5.], dtype=float32)
        >>> x[[0, 0]].shape
        (2, 3)

    """
    return GetItem(slices).apply((x,))[0]


def install_variable_get_item() -> None:
    """Makes :func:`get_item` the indexing of :class:`~chainer.Variable`."""
    operators.get_item = get_item


install_variable_get_item()
