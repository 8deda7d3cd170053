"""Accuracy of classification."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd.tape import NoGradient
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Accuracy(Operation):
    """Fraction of elements with the largest score at the true label."""

    _kernels = kernels()
    _rule = NoGradient

    def __init__(self, ignore_label: int | None = None) -> None:
        if ignore_label is not None and not isinstance(ignore_label, numbers.Number):
            raise TypeError(f'ignore_label must be an int or None, not {ignore_label!r}')
        self.ignore_label = ignore_label

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            t_type.dtype.kind == 'i',
        )
        t_ndim = type_check.eval(t_type.ndim)
        type_check.expect(
            x_type.ndim >= t_type.ndim,
            x_type.shape[0] == t_type.shape[0],
            x_type.shape[2 : t_ndim + 1] == t_type.shape[1:],
        )
        for i in range(t_ndim + 1, type_check.eval(x_type.ndim)):
            type_check.expect(x_type.shape[i] == 1)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        y, t = inputs
        xp = backend.get_array_module(y)
        hits: Any = y.argmax(axis=1).reshape(t.shape) == t
        if self.ignore_label is None:
            return (xp.asarray(hits.mean(dtype=numpy.float64), dtype=y.dtype),)
        mask: Any = t != self.ignore_label
        total = int(mask.sum())
        if total == 0:
            return (xp.zeros((), y.dtype),)
        return (xp.asarray((hits & mask).sum() / total, dtype=y.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        y, t = inputs
        accuracy = chainerx.accuracy(y, t, ignore_label=self.ignore_label)
        if self.ignore_label is not None:
            is_ignored = (t == self.ignore_label).all()
            accuracy = chainerx.where(is_ignored, y.dtype.type(0), accuracy)
        return (accuracy,)


def accuracy(y: VariableLike, t: VariableLike, ignore_label: int | None = None) -> Variable:
    """Classification accuracy of a minibatch; it has no gradient.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K, d_1, ...)`; the largest along the second axis is the prediction.
        t (:class:`~chainer.Variable` or array): True labels, integers of shape
            :math:`(N, d_1, ...)`.
        ignore_label (int or None): Label of elements to ignore.

    Returns:
        ~chainer.Variable: Scalar of the dtype of ``y``; zero if every label is ignored.

    Raises:
        TypeError: If ``ignore_label`` is not a number.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> y = np.array([[.1, .9], [.8, .2], [.3, .7]], np.float32)
        >>> print(F.accuracy(y, np.array([1, 0, 0])).array.round(4))
        0.6667
        >>> F.accuracy(y, np.array([1, 0, -1]), ignore_label=-1).array
        array(1., dtype=float32)

    """
    return Accuracy(ignore_label=ignore_label).apply((y, t))[0]
