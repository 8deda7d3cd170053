"""Cross-covariance penalty."""

from __future__ import annotations

import chainer
from chainer.function_node import FunctionNode
from chainer.functions._base import check_reduce
from chainer.utils import type_check


class CrossCovariance(FunctionNode):
    """Function node of :func:`~chainer.functions.cross_covariance`."""

    def __init__(self, reduce='half_squared_sum'):
        check_reduce(reduce, ('half_squared_sum', 'no'))
        self.reduce = reduce

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('y', 'z'))
        y_type, z_type = in_types
        type_check.expect(
            y_type.dtype.kind == 'f',
            y_type.dtype == z_type.dtype,
            y_type.ndim == 2,
            z_type.ndim == 2,
            y_type.shape[0] == z_type.shape[0],
        )

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        y, z = [x - x.mean(axis=0, keepdims=True) for x in inputs]
        covariance = y.T.dot(z) / y.dtype.type(len(y))
        if self.reduce == 'half_squared_sum':
            covariance = (covariance * covariance).sum() * y.dtype.type(0.5)
        return (chainer.utils.force_array(covariance, y.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        y, z = [
            x - F.broadcast_to(F.mean(x, axis=0, keepdims=True), x.shape)
            for x in self.get_retained_inputs()
        ]
        (gc,) = grad_outputs
        n = 1.0 / len(y)
        if self.reduce == 'half_squared_sum':
            covariance = F.matmul(y, z, transa=True) * n
            gc = F.broadcast_to(gc, covariance.shape) * covariance
        rules = (lambda: F.matmul(z, gc, transb=True) * n, lambda: F.matmul(y, gc) * n)
        return tuple([rules[i]() for i in target_input_indexes])


def cross_covariance(y, z, reduce='half_squared_sum'):
    """Penalty on the covariance between two groups of features.

    .. math:: \\frac12 \\sum_{ij} C_{ij}^2, \\qquad
        C_{ij} = \\frac1N \\sum_n (y_{ni} - \\bar y_i)(z_{nj} - \\bar z_j)

    Args:
        y (:class:`~chainer.Variable` or array): Features, floating point of shape
            :math:`(N, I)`.
        z (:class:`~chainer.Variable` or array): Features, of shape :math:`(N, J)` and of
            the same dtype.
        reduce (str): ``'half_squared_sum'``, or ``'no'`` for the matrix :math:`C`.

    Returns:
        ~chainer.Variable: Scalar, or matrix of shape :math:`(I, J)`, of the dtype of the inputs.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Cheung et al., Discovering hidden factors of variation in deep networks, 2014
    (arXiv:1412.6583).

    .. admonition:: Example

        >>> y = np.array([[0], [2]], np.float32)
        >>> z = np.array([[0, 1], [4, 1]], np.float32)
        >>> F.cross_covariance(y, z, reduce='no').array
        array([[2., 0.]], dtype=float32)
        >>> F.cross_covariance(y, z).array
        array(2., dtype=float32)

    """
    return CrossCovariance(reduce).apply((y, z))[0]
