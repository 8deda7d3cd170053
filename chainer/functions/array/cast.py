"""Conversion of dtypes."""

from __future__ import annotations

import chainer
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class Cast(FunctionNode):
    """Casts an array to another dtype."""

    _checked_natively = True

    def __init__(self, typ):
        self.type = typ

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))

    def forward_chainerx(self, inputs):
        return (inputs[0].astype(self.type),)

    def forward(self, inputs):
        return (inputs[0].astype(self.type, copy=False),)

    def backward(self, target_input_indexes, grad_outputs):
        in_type = self.inputs[0].dtype
        return ((cast(grad_outputs[0], in_type) if in_type.kind == 'f' else None),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        in_type = self.inputs[0].dtype
        return ((grad_outputs[0].astype(in_type, copy=False) if in_type.kind == 'f' else None),)


def cast(x, typ):
    """Casts an array to another dtype.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        typ (str or dtype): dtype of the output.

    Returns:
        ~chainer.Variable: ``x`` in the dtype ``typ``. Its gradient is cast back.

    .. admonition:: Example

        >>> F.cast(np.ones(2, np.float32), np.float64).dtype
        dtype('float64')

    """
    if x.dtype == typ and not chainer.config.enable_backprop:
        return chainer.as_variable(x)
    return Cast(typ).apply((x,))[0]
