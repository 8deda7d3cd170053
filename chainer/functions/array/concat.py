"""Concatenation."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.functions.array.split_axis import SplitAxis
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _expect_alike(in_types, axis):
    """Type check that inputs are of one dtype, and of one shape except for ``axis``."""
    first = in_types[0]
    ndim = type_check.eval(first.ndim)
    for i in range(1, type_check.eval(in_types.size())):
        type_check.expect(first.dtype == in_types[i].dtype, first.ndim == in_types[i].ndim)
        for d in range(ndim):
            if d != axis:
                type_check.expect(first.shape[d] == in_types[i].shape[d])


class Concat(_base.Operation):
    """Joins arrays along an axis."""

    # Gradients are views of that of the output, which kernels would copy.
    _kernels = CHECKED_BY_CHAINERX

    def __init__(self, axis: int = 1) -> None:
        self.axis: int = _arguments.parse_int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        _arguments.expect_axis(in_types[0], (self.axis,))
        _expect_alike(in_types, self.axis % type_check.eval(in_types[0].ndim))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('concatenate', inputs, self.axis)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (cuda.get_array_module(*inputs).concatenate(inputs, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        stops = list(itertools.accumulate([x.shape[self.axis] for x in self.inputs[:-1]]))
        gxs = m.apply(SplitAxis(stops, self.axis), gys)
        return [gxs[i] for i in targets]


def concat(xs: Sequence[VariableLike], axis: int = 1) -> Variable:
    """Joins arrays along an axis.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of one dtype, and of
            one shape except for ``axis``.
        axis (int): Axis to join along.

    Returns:
        ~chainer.Variable: Joined array of the dtype of the inputs, whose length along ``axis`` is
        the sum of theirs.

    Raises:
        TypeError: If ``axis`` is not an int.
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty, its arrays do not fit, or
            they have no such axis.

    .. admonition:: Example

        >>> a, b = np.zeros((2, 1), np.float32), np.ones((2, 2), np.float32)
        >>> F.concat((a, b), axis=1).array
        array([[0., 1., 1.],
               [0., 1., 1.]], dtype=float32)

    """
    return Concat(axis).apply(xs)[0]
