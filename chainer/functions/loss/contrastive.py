"""Contrastive loss."""

from __future__ import annotations

import chainer
from chainer import backend, utils
from chainer.function_node import FunctionNode
from chainer.functions._base import check_reduce, norm_of_squared, positive_part
from chainer.utils import type_check


class Contrastive(FunctionNode):
    """Function node of :func:`~chainer.functions.contrastive`."""

    def __init__(self, margin, reduce='mean'):
        if margin <= 0:
            raise ValueError(f'margin should be positive value, got {margin}')
        check_reduce(reduce)
        self.margin = margin
        self.reduce = reduce

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x0', 'x1', 'y'))
        x0_type, x1_type, y_type = in_types
        type_check.expect(
            x0_type.dtype.kind == 'f',
            x0_type.dtype == x1_type.dtype,
            y_type.dtype.kind == 'i',
            x0_type.shape == x1_type.shape,
            x0_type.ndim == 2,
            y_type.ndim == 1,
            x0_type.shape[0] == y_type.shape[0],
        )

    def forward(self, inputs):
        x0, x1, y = inputs
        self.retain_inputs((0, 1, 2))
        xp = backend.get_array_module(x0)
        squared = ((x0 - x1) ** 2).sum(axis=1)
        margin = positive_part(xp, x0.dtype.type(self.margin) - norm_of_squared(xp, squared))
        loss = xp.where(y == 1, squared, margin**2) * x0.dtype.type(0.5)
        if self.reduce == 'mean':
            loss = loss.mean()
        return (utils.force_array(loss, x0.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        x0, x1, y = self.get_retained_inputs()
        (gy,) = grad_outputs
        if self.reduce == 'mean':
            gy = F.broadcast_to(gy * (1.0 / len(x0)), y.shape)
        difference = x0 - x1
        squared = F.sum(difference * difference, axis=1)
        # Coincident points have no direction, so keep the norm above zero.
        norm = F.sqrt(squared + x0.dtype.type(1e-12))
        margin = F.relu(self.margin - norm)
        same = (y.array == 1).astype(x0.dtype)
        factor = gy * (same - (1 - same) * margin / norm)
        gx = F.broadcast_to(F.expand_dims(factor, 1), x0.shape) * difference
        return tuple([(gx, -gx, None)[i] for i in target_input_indexes])


def contrastive(x0, x1, y, margin=1, reduce='mean'):
    """Contrastive loss of pairs of points.

    .. math:: \\frac12 \\begin{cases} d^2 & y = 1 \\\\ \\max(m - d, 0)^2 & y = 0 \\end{cases},
        \\qquad d = \\|x_0 - x_1\\|_2

    Args:
        x0 (:class:`~chainer.Variable` or array): Points, floating point of shape
            :math:`(N, K)`.
        x1 (:class:`~chainer.Variable` or array): Points, of the same shape and dtype.
        y (:class:`~chainer.Variable` or array): Integers of shape :math:`(N,)`: one for
            similar pairs, zero for others.
        margin (float): Margin :math:`m`, positive.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each pair.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N,)`, of the dtype of ``x0``.

    Raises:
        ValueError: If ``margin`` is not positive or ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Hadsell et al., Dimensionality reduction by learning an invariant mapping, CVPR 2006.

    .. admonition:: Example

        >>> x0 = np.array([[0, 0], [0, 0]], np.float32)
        >>> x1 = np.array([[3, 4], [0, 0.5]], np.float32)
        >>> F.contrastive(x0, x1, np.array([1, 0]), reduce='no').array
        array([12.5  ,  0.125], dtype=float32)

    """
    return Contrastive(margin, reduce).apply((x0, x1, y))[0]
