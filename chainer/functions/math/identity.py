"""Identity function."""
from __future__ import annotations

from chainer.function_node import FunctionNode


class Identity(FunctionNode):

    def forward(self, xs):
        return xs

    def forward_chainerx(self, xs):
        return xs

    def backward(self, target_input_indexes, grad_outputs):
        return tuple([grad_outputs[i] for i in target_input_indexes])

    _backward_arrays = backward


def identity(*inputs):
    """Returns its inputs unchanged, as new variables of the graph.

    Args:
        inputs (:class:`~chainer.Variable` or array): Inputs.

    Returns:
        ~chainer.Variable or tuple: One variable, or a tuple if there are several inputs.

    """
    outputs = Identity().apply(inputs)
    return outputs[0] if len(outputs) == 1 else outputs
