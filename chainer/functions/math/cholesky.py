"""Cholesky decomposition."""

from __future__ import annotations

import numpy

import chainer
import chainerx
from chainer import backend
from chainer._fallback import Fallback
from chainer.function_node import FunctionNode
from chainer.functions.math.inv import linalg
from chainer.utils import type_check


class Cholesky(FunctionNode):
    """Function node of :func:`~chainer.functions.cholesky`."""

    @property
    def label(self):
        return 'cholesky'

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('a',))
        (a_type,) = in_types
        type_check.expect(a_type.dtype.kind == 'f', a_type.ndim == 2)
        type_check.expect(a_type.shape[-1] == a_type.shape[-2])

    def forward(self, inputs):
        self.retain_outputs((0,))
        return (linalg('cholesky', inputs[0]),)

    def forward_chainerx(self, inputs):
        (a,) = inputs
        return Fallback if a.dtype == numpy.float16 else (chainerx.linalg.cholesky(a),)

    def backward(self, target_input_indexes, grad_outputs):
        # Murray, Differentiation of the Cholesky decomposition, 2016 (arXiv:1602.07527):
        # the symmetric gradient is L^-T P(L^T gL) L^-1 with P the lower triangle, its
        # diagonal halved.
        F = chainer.functions
        (y,) = self.get_retained_outputs()
        xp = backend.get_array_module(y.array)
        lower = xp.tril(xp.ones(y.shape, y.dtype))
        lower -= xp.eye(len(lower), dtype=y.dtype) * y.dtype.type(0.5)
        inverse = F.inv(y)
        middle = F.matmul(y, grad_outputs[0], transa=True) * lower
        gx = F.matmul(F.matmul(inverse, middle, transa=True), inverse)
        return ((gx + F.transpose(gx)) * 0.5,)


def cholesky(a):
    """Cholesky decomposition :math:`A = L L^\\top` of a symmetric positive definite matrix.

    It reads only the lower triangle of ``a``; the gradient is symmetric.

    Args:
        a (:class:`~chainer.Variable` or array): Floating point matrix of shape
            :math:`(n, n)`.

    Returns:
        ~chainer.Variable: Lower triangular matrix :math:`L`, of the shape and dtype of ``a``.

    Raises:
        numpy.linalg.LinAlgError: If the matrix is not positive definite (on the CPU).
        ~chainer.utils.type_check.InvalidType: If ``a`` is not a floating point square matrix.

    .. admonition:: Example

        >>> F.cholesky(np.array([[4, 2], [2, 10]], np.float32)).array
        array([[2., 0.],
               [1., 3.]], dtype=float32)

    """
    return Cholesky().apply((a,))[0]
