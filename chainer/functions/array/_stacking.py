"""Base of functions that expand arrays to a number of axes and join them along one."""

from __future__ import annotations

from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.functions.array.concat import _expect_alike
from chainer.utils import type_check


class Stacking(FunctionNode):
    """Joins arrays with the NumPy and ChainerX routine :attr:`routine`.

    Arrays with fewer than :attr:`min_ndim` axes get the joined axis as a new one.
    """

    routine = None
    min_ndim = 0

    def axis(self, ndim):
        """Axis of the output for inputs of ``ndim`` axes."""
        raise NotImplementedError

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() > 0)
        ndim = type_check.eval(in_types[0].ndim)
        _expect_alike(in_types, None if ndim < self.min_ndim else self.axis(ndim))

    def forward_chainerx(self, inputs):
        return _base.call_chainerx(self.routine, inputs)

    def forward(self, inputs):
        return (getattr(cuda.get_array_module(*inputs), self.routine)(inputs),)

    def backward(self, target_input_indexes, grad_outputs):
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
