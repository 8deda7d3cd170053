"""Base of losses that are functions of the difference of two arrays."""

from __future__ import annotations

import chainer
from chainer.backends import cuda
from chainer.functions._base import _as_array, _Routine
from chainer.utils import type_check


def check_pair(in_types, names=('x0', 'x1')):
    """Type check of two floating point arrays of one shape and dtype."""
    type_check._argname(in_types, names)
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
    _checked_natively = False

    def check_type_forward(self, in_types):
        check_pair(in_types)

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        x0, x1 = inputs
        return (_as_array(self.compute(x0 - x1), x0.dtype),)

    def backward(self, target_input_indexes, grad_outputs):
        x0, x1 = self.get_retained_inputs()
        return self._both(chainer.functions, x0 - x1, grad_outputs[0], target_input_indexes)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (x0, x1), _ = self._retained_arrays()
        gxs = self._both(cuda.get_array_module(x0), x0 - x1, grad_outputs[0], target_input_indexes)
        return tuple([_as_array(g, x0.dtype) for g in gxs])

    def _both(self, m, difference, gy, targets):
        gx = self.gradient(m, difference, gy)
        return tuple([-gx if i else gx for i in targets])


class MeanDifferenceFunction(DifferenceFunction):
    """Mean of an elementwise function of the difference; a scalar."""

    is_elementwise = False

    def forward_chainerx(self, inputs):
        x0, x1 = inputs
        return (self.compute(x0 - x1),)

    def _both(self, m, difference, gy, targets):
        if difference.size == 0:
            return tuple([difference for _ in targets])
        return super()._both(m, difference, gy * (1.0 / difference.size), targets)
