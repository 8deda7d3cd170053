"""Identity function."""

from __future__ import annotations

from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._base import Operation


class Identity(Operation):
    """Function node of :func:`~chainer.functions.identity`."""

    # The outputs hold the very arrays of the inputs.
    _kernels = NO_KERNELS

    def forward(self, xs):
        return xs

    def forward_chainerx(self, xs):
        return xs

    def gradients(self, m, targets, xs, ys, gys):
        return [gys[i] for i in targets]


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
