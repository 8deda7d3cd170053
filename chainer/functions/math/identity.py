"""Identity function."""

from __future__ import annotations

from chainer.function_node import FunctionNode


class Identity(FunctionNode):
    """Function node of :func:`~chainer.functions.identity`."""

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
        inputs (:class:`~chainer.Variable` or array): Inputs of any shape and dtype.

    Returns:
        ~chainer.Variable or tuple: One variable, or a tuple if there are several inputs, of
        the shapes and dtypes of the inputs.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> y = F.identity(x)
        >>> y.array, y is x
        (array([1., 2.], dtype=float32), False)

    """
    outputs = Identity().apply(inputs)
    return outputs[0] if len(outputs) == 1 else outputs
