"""Tensor dot product."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer._core.reports.fallback import Fallback
from chainer.functions._arguments import expect_axis, parse_axis
from chainer.functions._arrays import in_dtype
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _as_matrix(x, axes, xp):
    """Reshapes ``x`` to a matrix with two groups of axes as rows and columns."""
    rows, cols = axes
    shape = math.prod([x.shape[i] for i in rows]), math.prod([x.shape[i] for i in cols])
    return xp.transpose(x, (*rows, *cols)).reshape(shape)


def _parse_axes(axes):
    """Axes of each array."""
    if len(axes) != 2:
        raise ValueError('axes must be a pair of sequence of integers when it is a list or tuple.')
    groups = [
        parse_axis(group if isinstance(group, numbers.Integral) else tuple(group)) for group in axes
    ]
    if len(groups[0]) != len(groups[1]):
        raise ValueError(f'axes lists a different number of axes for each array: {axes}')
    return groups


class TensorDot(Operation):
    """Matrix product of arrays with axes grouped into rows and columns.

    Args:
        axes: As for :func:`tensordot`, if the groups are not given.
        a_axes, b_axes, c_axes: Axes of the rows and of the columns, for both operands and the
            result.
        dtype: Dtype of the result.

    """

    a_axes: Any
    b_axes: Any
    c_axes: Any

    _kernels = kernels(retain=(0, 1))

    def __init__(
        self,
        axes: int | Sequence[Any] = 2,
        a_axes: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
        b_axes: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
        c_axes: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
        dtype: DTypeSpec = None,
    ) -> None:
        self.axes = axes
        self.a_axes = a_axes
        self.b_axes = b_axes
        self.c_axes = c_axes
        self.dtype = dtype
        if not isinstance(axes, numbers.Integral):
            self._groups = _parse_axes(axes)

    def _contracted(self, a_ndim, b_ndim):
        if isinstance(self.axes, numbers.Integral):
            return list(range(a_ndim - self.axes, a_ndim)), list(range(self.axes))
        return [[i % n for i in group] for group, n in zip(self._groups, (a_ndim, b_ndim))]

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a', 'b'))
        a_type, b_type = in_types
        type_check.expect(a_type.dtype.kind == 'f', b_type.dtype.kind == 'f')
        if self.a_axes is None:
            a_ndim, b_ndim = type_check.eval(a_type.ndim), type_check.eval(b_type.ndim)
            if isinstance(self.axes, numbers.Integral):
                type_check.expect(a_type.ndim >= self.axes, b_type.ndim >= self.axes)
            else:
                for in_type, group in zip(in_types, self._groups):
                    expect_axis(in_type, group)
            for i, j in zip(*self._contracted(a_ndim, b_ndim)):
                type_check.expect(a_type.shape[i] == b_type.shape[j])

    def _set_groups(self, a, b):
        if self.a_axes is not None:
            return
        a_inner, b_inner = self._contracted(a.ndim, b.ndim)
        a_outer = [i for i in range(a.ndim) if i not in a_inner]
        b_outer = [i for i in range(b.ndim) if i not in b_inner]
        self.a_axes = [a_outer, a_inner]
        self.b_axes = [b_inner, b_outer]
        n = len(a_outer)
        self.c_axes = [list(range(n)), list(range(n, n + len(b_outer)))]

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        self._set_groups(a, b)
        xp = backend.get_array_module(a)
        y = xp.dot(_as_matrix(a, self.a_axes, xp), _as_matrix(b, self.b_axes, xp))
        y = y.reshape([a.shape[i] for i in self.a_axes[0]] + [b.shape[i] for i in self.b_axes[1]])
        order = [*self.c_axes[0], *self.c_axes[1]]
        y = xp.transpose(y, sorted(range(len(order)), key=order.__getitem__))
        return (in_dtype(y, self.dtype or y.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        a, b = inputs
        if a.dtype != b.dtype:
            return Fallback('mixed dtypes')
        if self.a_axes is not None:
            return Fallback('given axes of the result')
        return (chainerx.tensordot(a, b, self._contracted(a.ndim, b.ndim)),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        a, b = xs
        (gy,) = gys
        a_axes, b_axes, c_axes = self.a_axes, self.b_axes, self.c_axes
        gxs: list[Any] = []
        for i in targets:
            if i == 0:
                func = TensorDot(a_axes=c_axes, b_axes=b_axes[::-1], c_axes=a_axes, dtype=a.dtype)
                gxs += m.apply(func, (gy, b))
            else:
                func = TensorDot(a_axes=a_axes[::-1], b_axes=c_axes, c_axes=b_axes, dtype=b.dtype)
                gxs += m.apply(func, (a, gy))
        return gxs


def tensordot(a: VariableLike, b: VariableLike, axes: int | Sequence[Any] = 2) -> Variable:
    """Sum of products over given axes of two arrays.

    .. math:: y_{i_1 \\ldots j_1 \\ldots} = \\sum_{k_1 \\ldots}
        a_{i_1 \\ldots k_1 \\ldots} \\, b_{k_1 \\ldots j_1 \\ldots}

    Args:
        a (:class:`~chainer.Variable` or array): Left operand, floating point.
        b (:class:`~chainer.Variable` or array): Right operand, floating point.
        axes (int or pair): Number of last axes of ``a`` and first axes of ``b`` to sum over, or
            a pair of axes, or of sequences of axes, of ``a`` and of ``b``.

    Returns:
        ~chainer.Variable: Array with the remaining axes of ``a``, then those of ``b``, in the
        dtype of :func:`numpy.dot`.

    Raises:
        ValueError: If ``axes`` is invalid.
        ~chainer.utils.type_check.InvalidType: If lengths of paired axes differ or an input
            is not floating point.

    .. admonition:: Example

        >>> a = np.array([[1, 2], [3, 4]], np.float32)
        >>> F.tensordot(a, a, axes=2).array
        array(30., dtype=float32)
        >>> b = np.ones((3, 2, 4), np.float32)
        >>> F.tensordot(a, b, axes=([1], [1])).shape
        (2, 3, 4)

    """
    return TensorDot(axes=axes).apply((a, b))[0]
