"""Base of losses that are functions of the difference of two arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._arrays import in_dtype
from chainer.functions._base import _Routine, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple


def check_pair(in_types, names=('x0', 'x1')):
    """Type check of two floating point arrays of one shape and dtype."""
    type_check.expect_arguments(in_types, names)
    type_check.expect(
        in_types[0].dtype.kind == 'f',
        in_types[0].dtype == in_types[1].dtype,
        in_types[0].shape == in_types[1].shape,
    )


class DifferenceFunction(_Routine):
    """Function of ``x0 - x1`` of equally shaped arrays.

    Subclasses define ``compute(d)`` and ``gradient(m, d, gy)``, the gradient for the first
    input; the gradient for the second is its negative.
    """

    is_elementwise = True
    _kernels = kernels(retain=(0, 1))

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        check_pair(in_types)

    if TYPE_CHECKING:

        def compute(self, d: NdArray) -> NdArray: ...
        def gradient(self, m: Namespace, d: Operand, gy: Operand) -> Operand: ...

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1))
        x0, x1 = inputs
        return (in_dtype(self.compute(x0 - x1), x0.dtype),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x0, x1 = xs
        gx = self.gradient(m, x0 - x1, gys[0])
        return [-gx if i else gx for i in targets]


class MeanDifferenceFunction(DifferenceFunction):
    """Mean of an elementwise function of the difference; a scalar."""

    is_elementwise = False

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        x0, x1 = inputs
        return (self.compute(x0 - x1),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        return super().gradients(m, targets, xs, ys, (gy * (1.0 / max(xs[0].size, 1)),))
