"""Base of functions that lift arrays to some number of axes and join them along one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.functions.array.concat import _expect_alike
from chainer.utils import type_check

if TYPE_CHECKING:
    import chainerx
    from chainer._fallback import _FallbackType
    from chainer.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Stacking(FunctionNode):
    """Joins arrays with the NumPy and ChainerX routine :attr:`routine`.

    Arrays of less than :attr:`min_ndim` axes get the joined axis as a new one.
    """

    routine = None
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
    ) -> tuple[chainerx.ndarray, ...] | _FallbackType:
        return _base.call_chainerx(self.routine, inputs)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (getattr(cuda.get_array_module(*inputs), self.routine)(inputs),)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        (gy,) = grad_outputs
        ndim = len(self.inputs[0].shape)
        axis = self.axis(ndim)
        before = (slice(None),) * axis
        starts = [0]
        for x in self.inputs:
            starts.append(starts[-1] + (1 if ndim < self.min_ndim else x.shape[axis]))
        return tuple(
            [
                gy[before + (slice(starts[i], starts[i + 1]),)].reshape(self.inputs[i].shape)
                for i in target_input_indexes
            ]
        )

    _backward_arrays = backward
