"""Separation along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions import _arguments
from chainer.functions.array._views import View
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Separate(View):
    """Splits an array along an axis into slices without that axis."""

    # ChainerX slices the array, whose axes are checked before.
    _kernels = NO_KERNELS

    def __init__(self, axis: int) -> None:
        self.axis: int = _arguments.parse_int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].ndim > 0)
        _arguments.expect_axis(in_types[0], (self.axis,))
        if type_check.eval(in_types[0].shape[self.axis]) == 0:
            raise ZeroDivisionError(f'axis {self.axis} of length zero has no parts')

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        before = (slice(None),) * (self.axis % x.ndim)
        return tuple([x[before + (i,)] for i in range(x.shape[self.axis])])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        xp = cuda.get_array_module(x)
        # With an ellipsis the elements of one-dimensional arrays stay arrays.
        x = xp.moveaxis(x, self.axis, 0)
        return tuple([x[i, ...] for i in range(len(x))])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        # Zeros stand for the gradients of unused outputs.
        array = as_array(next(gy for gy in gys if gy is not None))
        xp = cuda.get_array_module(array)
        return (m.stack([xp.zeros_like(array) if gy is None else gy for gy in gys], self.axis),)


def separate(x: VariableLike, axis: int = 0) -> tuple[Variable, ...]:
    """Splits an array along an axis into slices.

    It is the inverse of :func:`~chainer.functions.stack`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype with at least one axis.
        axis (int): Axis, which the outputs do not have.

    Returns:
        tuple of ~chainer.Variable: One output per element of the axis, without that axis.

    Raises:
        TypeError: If ``axis`` is not an int.
        ZeroDivisionError: If the length of the axis is zero.
        ~chainer.utils.type_check.InvalidType: If ``axis`` is out of range.

    .. admonition:: Example

        >>> a, b = F.separate(np.arange(4, dtype=np.float32).reshape(2, 2), axis=1)
        >>> b.array
        array([1., 3.], dtype=float32)

    """
    return Separate(axis).apply((x,))
