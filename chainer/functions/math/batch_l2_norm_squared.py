"""Squared L2 norms of the samples of a batch."""

from __future__ import annotations

import chainer
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class BatchL2NormSquared(FunctionNode):
    """Function node of :func:`~chainer.functions.batch_l2_norm_squared`."""

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)

    def forward(self, inputs):
        (x,) = inputs
        self.retain_inputs((0,))
        return ((x * x).sum(axis=tuple(range(1, x.ndim))),)

    def forward_chainerx(self, inputs):
        (x,) = inputs
        return ((x * x).sum(axis=tuple(range(1, x.ndim))),)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        gy = chainer.functions.reshape(grad_outputs[0], (-1,) + (1,) * (x.ndim - 1))
        return (2 * x * chainer.functions.broadcast_to(gy, x.shape),)


def batch_l2_norm_squared(x):
    """Squared Euclidean norm of each sample of a batch.

    .. math:: y_i = \\sum_j x_{ij}^2

    Args:
        x (:class:`~chainer.Variable` or array): Batch, floating point of shape
            :math:`(N, ...)` with at least two axes.

    Returns:
        ~chainer.Variable: Squared norms, of shape :math:`(N,)` and of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or has fewer
            than two axes.

    .. admonition:: Example

        >>> F.batch_l2_norm_squared(np.array([[1, 2], [3, 4]], np.float32)).array
        array([ 5., 25.], dtype=float32)

    """
    return BatchL2NormSquared().apply((x,))[0]
