"""Sigmoid cross entropy."""

from __future__ import annotations

import chainer
import chainerx
from chainer import backend
from chainer._fallback import Fallback
from chainer.function_node import FunctionNode
from chainer.functions._base import check_reduce
from chainer.utils import type_check


class SigmoidCrossEntropy(FunctionNode):
    """Sigmoid activation followed by a binary cross entropy loss."""

    ignore_label = -1
    _checked_natively = True

    def __init__(self, normalize=True, reduce='mean'):
        check_reduce(reduce)
        self.normalize = normalize
        self.reduce = reduce

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f', t_type.dtype.kind == 'i', x_type.shape == t_type.shape
        )

    def _mask_and_count(self, x, t):
        mask = (t != self.ignore_label).astype(x.dtype)
        if self.normalize:
            count = int((t != self.ignore_label).sum())
        else:
            count = len(x) if x.ndim else 1
        self.count = max(count, 1)
        return mask

    def forward(self, inputs):
        x, t = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        mask = self._mask_and_count(x, t)
        # log(1 + e^x) - t x, without overflow.
        loss = mask * (xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x))) - x * t.astype(x.dtype))
        if self.reduce == 'mean':
            loss = loss.sum() * x.dtype.type(1.0 / self.count)
        return (chainer.utils.force_array(loss, x.dtype),)

    def forward_chainerx(self, inputs):
        x, t = inputs
        if not hasattr(chainerx, 'sigmoid_cross_entropy'):
            return Fallback
        mask = self._mask_and_count(x, t)
        loss = mask * chainerx.sigmoid_cross_entropy(x, t)
        if self.reduce == 'mean':
            loss = loss.sum() * (1.0 / self.count)
        return (loss,)

    def backward(self, target_input_indexes, grad_outputs):
        x, t = self.get_retained_inputs()
        (gy,) = grad_outputs
        mask = self._mask_and_count(x.array, t.array)
        if self.reduce == 'mean':
            gy = chainer.functions.broadcast_to(gy * (1.0 / self.count), x.shape)
        gx = gy * mask * (chainer.functions.sigmoid(x) - t.array.astype(x.dtype))
        return tuple([None if i else gx for i in target_input_indexes])


def sigmoid_cross_entropy(x, t, normalize=True, reduce='mean'):
    """Binary cross entropy of unnormalized log odds.

    .. math:: -t \\log \\sigma(x) - (1 - t) \\log(1 - \\sigma(x)) = \\log(1 + e^x) - t x

    Elements with the label -1 have no loss.

    Args:
        x (:class:`~chainer.Variable` or array): Log odds, floating point of any shape.
        t (:class:`~chainer.Variable` or array): Integer labels 0, 1 or -1, of the same shape.
        normalize (bool): Whether to average over labels other than -1; otherwise divides the sum
            by the length of the first axis.
        reduce (str): ``'mean'``, or ``'no'`` for elementwise losses.

    Returns:
        ~chainer.Variable: Scalar, or losses of the shape of ``x``, of the dtype of ``x``.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([[-2, 3, 0]], np.float32)
        >>> t = np.array([[0, 1, -1]])
        >>> F.sigmoid_cross_entropy(x, t, reduce='no').array.round(4)
        array([[0.1269, 0.0486, 0.    ]], dtype=float32)
        >>> print(F.sigmoid_cross_entropy(x, t).array.round(4))
        0.0878

    """
    return SigmoidCrossEntropy(normalize, reduce).apply((x, t))[0]
