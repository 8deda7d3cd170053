"""Largest and smallest elements along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer._core.autograd.tape import NoGradient
from chainer.functions._arguments import expect_axis, parse_single_axis
from chainer.functions._arrays import in_dtype
from chainer.functions._base import Operation, ReductionFunction, kernels
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class SelectorBase(ReductionFunction):
    """Base of functions that select an array element along axes.

    Every element equal to the selected one gets the gradient.
    """

    retains = 'xy'

    def _fwd(self, x, xp):
        raise NotImplementedError('_fwd should be implemented in sub-class.')

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return self._fwd(x, xp)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        selected: Any = as_array(x) == as_array(y)
        return gy * selected.astype(gy.dtype)


class Max(SelectorBase):
    """Function node of :func:`~chainer.functions.max`."""

    chainerx_routine = 'amax'

    def _fwd(self, x, xp):
        return x.max(axis=self.axis, keepdims=self.keepdims)


class Min(SelectorBase):
    """Function node of :func:`~chainer.functions.min`."""

    chainerx_routine = 'amin'

    def _fwd(self, x, xp):
        return x.min(axis=self.axis, keepdims=self.keepdims)


class IndexSelectorBase(Operation):
    """Base of functions that return the index of a selected element, without a gradient."""

    _kernels = kernels()
    _rule = NoGradient

    def __init__(self, axis: Axis = None) -> None:
        self.axis: int | None = parse_single_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        expect_axis(in_types[0], None if self.axis is None else (self.axis,))

    def _fwd(self, x, xp):
        raise NotImplementedError('_fwd should be implemented in sub-class.')

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (in_dtype(self._fwd(x, backend.get_array_module(x)), 'i'),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (self._fwd(inputs[0], chainerx).astype('i'),)


class ArgMin(IndexSelectorBase):
    """Function node of :func:`~chainer.functions.argmin`."""

    def _fwd(self, x, xp):
        return xp.argmin(x, axis=self.axis)


class ArgMax(IndexSelectorBase):
    """Function node of :func:`~chainer.functions.argmax`."""

    def _fwd(self, x, xp):
        return xp.argmax(x, axis=self.axis)


def max(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Largest element along axes.

    Every element equal to it gets the gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (None, int or tuple of int): Axes to reduce (``None``: all).
        keepdims (bool): Whether to keep reduced axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, without the reduced axes unless
        ``keepdims``.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> F.max(np.array([[1, 5], [4, 2]], np.float32), axis=1).array
        array([5., 4.], dtype=float32)

    """
    return Max(axis, keepdims).apply((x,))[0]


def min(x: VariableLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Smallest element along axes.

    Every element equal to it gets the gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (None, int or tuple of int): Axes to reduce (``None``: all).
        keepdims (bool): Whether to keep reduced axes with length one.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, without the reduced axes unless
        ``keepdims``, which gives them length one.

    Raises:
        TypeError: If ``axis`` is neither ``None``, an int nor a tuple of ints.
        ValueError: If an axis appears twice.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> F.min(np.array([[1, 5], [4, 2]], np.float32), axis=1).array
        array([1., 2.], dtype=float32)

    """
    return Min(axis, keepdims).apply((x,))[0]


def argmax(x: VariableLike, axis: int | None = None) -> Variable:
    """Index of the largest element along an axis; the first one of several.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (None or int): Axis (``None``: of the flattened input).

    Returns:
        ~chainer.Variable: Indices of dtype int32, of the shape of ``x`` without the axis; they have
        no gradient.

    Raises:
        TypeError: If ``axis`` is neither ``None`` nor an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> F.argmax(np.array([[1, 5], [4, 2]], np.float32), axis=1).array
        array([1, 0], dtype=int32)

    """
    return ArgMax(axis).apply((x,))[0]


def argmin(x: VariableLike, axis: int | None = None) -> Variable:
    """Index of the smallest element along an axis; the first one of several.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        axis (None or int): Axis (``None``: of the flattened input).

    Returns:
        ~chainer.Variable: Indices of dtype int32, of the shape of ``x`` without the axis; they have
        no gradient.

    Raises:
        TypeError: If ``axis`` is neither ``None`` nor an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> F.argmin(np.array([[1, 5], [4, 2]], np.float32), axis=1).array
        array([0, 1], dtype=int32)

    """
    return ArgMin(axis).apply((x,))[0]
