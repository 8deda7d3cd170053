"""Triplet loss."""

from __future__ import annotations

import chainer
from chainer import backend, utils
from chainer.function_node import FunctionNode
from chainer.functions._base import check_reduce, positive_part
from chainer.utils import type_check


class Triplet(FunctionNode):
    """Function node of :func:`~chainer.functions.triplet`."""

    def __init__(self, margin, reduce='mean'):
        if margin <= 0:
            raise ValueError(f'margin should be positive value, got {margin}')
        check_reduce(reduce)
        self.margin = margin
        self.reduce = reduce

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('anchor', 'positive', 'negative'))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)
        for in_type in in_types[1:]:
            type_check.expect(
                in_type.dtype == in_types[0].dtype, in_type.shape == in_types[0].shape
            )

    def _violations(self, anchor, positive, negative):
        return ((anchor - positive) ** 2 - (anchor - negative) ** 2).sum(axis=1) + self.margin

    def forward(self, inputs):
        self.retain_inputs((0, 1, 2))
        xp = backend.get_array_module(*inputs)
        loss = positive_part(xp, self._violations(*inputs))
        if self.reduce == 'mean':
            loss = loss.mean()
        return (utils.force_array(loss, inputs[0].dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        anchor, positive, negative = self.get_retained_inputs()
        (gy,) = grad_outputs
        violated = self._violations(anchor.array, positive.array, negative.array) > 0
        if self.reduce == 'mean':
            gy = F.broadcast_to(gy * (1.0 / violated.size), violated.shape)
        gy = F.expand_dims(gy * violated.astype(gy.dtype) * 2, 1)
        gy = F.broadcast_to(gy, anchor.shape)
        rules = (
            lambda: gy * (negative - positive),
            lambda: gy * (positive - anchor),
            lambda: gy * (anchor - negative),
        )
        return tuple([rules[i]() for i in target_input_indexes])


def triplet(anchor, positive, negative, margin=0.2, reduce='mean'):
    """Triplet loss, which moves anchors closer to positive than to negative points.

    .. math:: \\max(\\|a - p\\|^2 - \\|a - n\\|^2 + m, 0)

    Args:
        anchor (:class:`~chainer.Variable` or array): Anchors, floating point of shape
            :math:`(N, K, ...)`; distances are along the second axis.
        positive (:class:`~chainer.Variable` or array): Points that should be near, of the
            shape and dtype of ``anchor``.
        negative (:class:`~chainer.Variable` or array): Points that should be far, likewise.
        margin (float): Margin :math:`m`, positive.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each triplet.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N, ...)`, of the dtype of ``anchor``.

    Raises:
        ValueError: If ``margin`` is not positive or ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Schroff et al., FaceNet, CVPR 2015.

    .. admonition:: Example

        >>> anchor = np.zeros((2, 1), np.float32)
        >>> positive = np.array([[1], [1]], np.float32)
        >>> negative = np.array([[1], [2]], np.float32)
        >>> F.triplet(anchor, positive, negative, reduce='no').array
        array([0.2, 0. ], dtype=float32)
        >>> F.triplet(anchor, positive, negative).array
        array(0.1, dtype=float32)

    """
    return Triplet(margin, reduce).apply((anchor, positive, negative))[0]
