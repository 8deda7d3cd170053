"""Base of functions that expand arrays to a number of axes and join them along one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions import _base
from chainer.functions.array.concat import _expect_alike
from chainer.functions.array.split_axis import SplitAxis
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple


class Stacking(_base.Operation):
    """Joins arrays with the NumPy and ChainerX routine :attr:`routine`.

    Arrays with fewer than :attr:`min_ndim` axes get the joined axis as a new one.
    """

    # Gradients are views of that of the output, which kernels would copy.
    _kernels = NO_KERNELS
    routine: str
    min_ndim = 0

    def axis(self, ndim: int) -> int:
        """Axis of the output for inputs of ``ndim`` axes."""
        raise NotImplementedError

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        ndim = type_check.eval(in_types[0].ndim)
        _expect_alike(in_types, None if ndim < self.min_ndim else self.axis(ndim))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx(self.routine, inputs)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (getattr(cuda.get_array_module(*inputs), self.routine)(inputs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        ndim = len(self.inputs[0].shape)
        axis = self.axis(ndim)
        lengths = [1 if ndim < self.min_ndim else x.shape[axis] for x in self.inputs[:-1]]
        gxs = m.apply(SplitAxis(list(itertools.accumulate(lengths)), axis), gys)
        return [gxs[i].reshape(self.inputs[i].shape) for i in targets]
