"""Selection of one element per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.settings.debug import is_debug
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class SelectItem(Operation):
    """Selects an element of each row."""

    # NumPy takes few elements as fast.
    _kernels = NO_KERNELS

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            t_type.dtype.kind == 'i',
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t = inputs
        self.retain_inputs((1,))
        if is_debug() and not ((0 <= t).all() and (t < x.shape[1]).all()):
            raise ValueError('Each label t must satisfy 0 <= t < x.shape[1]')
        rows = sent_like(x, numpy.arange(t.size))
        places: Any = rows, t
        return (x[places],)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x = self.inputs[0]
        (gx,) = m.apply(Assign(x.shape, x.dtype, as_array(xs[0])), gys)
        return [gx if i == 0 else None for i in targets]


class Assign(Operation):
    """Puts a value into each row of zeros."""

    def __init__(self, shape: tuple[int, ...], dtype: DTypeSpec, t: VariableLike) -> None:
        self.shape = shape
        self.dtype = dtype
        self.t = t

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (gy,) = inputs
        xp = cuda.get_array_module(gy)
        gx = xp.zeros(self.shape, self.dtype)
        gx[xp.arange(self.t.size), self.t] = gy
        return (gx,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(SelectItem(), (gys[0], self.t))


def select_item(x: VariableLike, t: VariableLike) -> Variable:
    """Selects an element of each row: ``y[i] = x[i, t[i]]``.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(N, M)`` and of any
            dtype.
        t (:class:`~chainer.Variable` or array of int): Columns, of shape ``(N,)``.

    Returns:
        ~chainer.Variable: Output of shape ``(N,)`` and of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes are wrong.
        ValueError: If an element of ``t`` is not a column (in debug mode).

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32).reshape(2, 3)
        >>> F.select_item(x, np.array([0, 2])).array
        array([0., 5.], dtype=float32)

    """
    return SelectItem().apply((x, t))[0]
