"""Padding of sequences to a common length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class PadSequence(Operation):
    """Pads arrays of different lengths into one array."""

    # Gradients are views of that of the output, which kernels would copy.
    _kernels = NO_KERNELS

    def __init__(self, length: int | None, padding: int | float) -> None:
        self.length = length
        self.padding = padding

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n = type_check.eval(in_types.size())
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        type_check.expect(first.ndim > 0)
        for i in range(n):
            type_check.expect(
                in_types[i].ndim == first.ndim,
                in_types[i].shape[1:] == first.shape[1:],
                in_types[i].dtype == first.dtype,
            )
            if self.length is not None:
                length = type_check.make_variable(self.length, 'length')
                type_check.expect(in_types[i].shape[0] <= length)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        xp = cuda.get_array_module(*inputs)
        length = self.length
        if length is None:
            length = max([len(x) for x in inputs])
        y = xp.full((len(inputs), length, *inputs[0].shape[1:]), self.padding, inputs[0].dtype)
        for i, x in enumerate(inputs):
            y[i, : len(x)] = x
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        length = self.length
        if length is None:
            length = max([len(x) for x in inputs])
        ys = []
        for x in inputs:
            if len(x) < length:
                rest = chainerx.full(
                    (length - len(x), *x.shape[1:]), self.padding, x.dtype, device=x.device
                )
                x = chainerx.concatenate([x, rest], axis=0)
            ys.append(x)
        return (chainerx.stack(ys),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        return tuple([gy[i, : self.inputs[i].shape[0]] for i in targets])


def pad_sequence(
    xs: Sequence[VariableLike], length: int | None = None, padding: int | float = 0
) -> Variable:
    """Pads arrays of different lengths into one array, padded at the end.

    Args:
        xs (sequence of :class:`~chainer.Variable` or array): Inputs of shape
            ``(L_i, ...)`` and of any dtype, equal except for the length.
        length (int or None): Common length (``None``: that of the longest).
        padding (int or float): Padding value.

    Returns:
        ~chainer.Variable: Output of shape ``(len(xs), length, ...)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``xs`` is empty, its arrays differ in dtype
            or in the other axes, or one is longer than ``length``.

    .. admonition:: Example

        >>> F.pad_sequence([np.ones(1, np.float32), np.ones(2, np.float32)]).array
        array([[1., 0.],
               [1., 1.]], dtype=float32)

    """
    return PadSequence(length, padding).apply(xs)[0]
