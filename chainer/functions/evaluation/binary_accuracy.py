"""Accuracy of binary classification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, utils
from chainer._core.autograd.tape import NoGradient
from chainer.functions._base import CallableFunction, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class BinaryAccuracy(CallableFunction):
    """Function node of :func:`~chainer.functions.binary_accuracy`."""

    _kernels = kernels()
    _rule = NoGradient
    ignore_label = -1

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f', t_type.dtype.kind == 'i', t_type.shape == x_type.shape
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        y, t = inputs
        mask: Any = t != self.ignore_label
        hits = (((y >= 0) == (t == 1)) & mask).sum()
        count = backend.get_array_module(y).maximum(mask.sum(), 1)
        return (utils.force_array(hits.astype(numpy.float64) / count, y.dtype),)

    forward_chainerx: Any = forward


def binary_accuracy(y: VariableLike, t: VariableLike) -> Variable:
    """Accuracy of binary classification; it has no gradient.

    Args:
        y (:class:`~chainer.Variable` or array): Scores, floating point of any shape; a score
            of at least zero predicts one.
        t (:class:`~chainer.Variable` or array): Integer labels 0, 1, or -1 for
            elements to ignore, of the same shape.

    Returns:
        ~chainer.Variable: Scalar of the dtype of ``y``; zero if it ignores every element.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> y = np.array([-2, 3, 0, -1], np.float32)
        >>> F.binary_accuracy(y, np.array([0, 1, 0, 1])).array
        array(0.5, dtype=float32)
        >>> F.binary_accuracy(y, np.array([0, 1, -1, -1])).array
        array(1., dtype=float32)

    """
    return BinaryAccuracy().apply((y, t))[0]
