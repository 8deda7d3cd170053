"""Differences of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions._arguments import expect_axis
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Diff(Operation):
    """Differences of neighbours along an axis, taken ``n`` times."""

    _kernels = kernels(least_size=4096)

    def __init__(self, n: int = 1, axis: int = -1) -> None:
        if n < 0:
            raise ValueError(f'n must not be negative, got {n}')
        self.n = n
        self.axis = axis

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        (x_type,) = in_types
        type_check.expect(x_type.dtype.kind == 'f')
        expect_axis(x_type, (self.axis,))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        y = x
        for _ in range(min(self.n, x.shape[self.axis])):
            rest, first = (self._along(s, x.ndim) for s in (slice(1, None), slice(None, -1)))
            y = y[rest] - y[first]
        return (y if self.n else x.copy(),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.diff(inputs[0], self.n, self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gx,) = gys
        length = self.inputs[0].shape[self.axis]
        pad = [(0, 0)] * gx.ndim
        # Each step back is the difference of neighbours, beyond the ends of which are zeros.
        for _ in range(min(self.n, length)):
            pad[self.axis] = (1, 1)
            wide = m.pad(gx, pad, 'constant')
            rest, first = (self._along(s, gx.ndim) for s in (slice(1, None), slice(None, -1)))
            gx = wide[first] - wide[rest]
        return (gx,)

    def _along(self, part, ndim):
        index = [slice(None)] * ndim
        index[self.axis] = part
        return tuple(index)


def diff(x: VariableLike, n: int = 1, axis: int = -1) -> Variable:
    """Differences of neighbours along an axis.

    .. math:: y_i = x_{i+1} - x_i

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        n (int): How often differences are taken.
        axis (int): Axis.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, but by ``n`` shorter along the
        axis.

    Raises:
        ValueError: If ``n`` is negative.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or has no such axis.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 4, 9, 16], np.float32))
        >>> F.diff(x)
        variable([3., 5., 7.])
        >>> F.diff(x, n=2)
        variable([2., 2.])

    """
    return Diff(n, axis).apply((x,))[0]
