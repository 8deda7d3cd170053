"""Matrix products."""

from __future__ import annotations

import chainer
import chainerx
from chainer import backend, utils
from chainer._fallback import Fallback
from chainer.function_node import FunctionNode
from chainer.functions._base import _as_array
from chainer.utils import type_check


def _transposed(x, transpose):
    return x.swapaxes(-1, -2) if transpose and x.ndim > 1 else x


def _matmul(a, b, transa, transb, transc, xp):
    y = xp.matmul(_transposed(a, transa), _transposed(b, transb))
    return _transposed(y, transc)


def _matrix_type_check(a_type, b_type, transa, transb):
    """Expects matrices (or vectors) with equal inner lengths and broadcastable outer axes."""
    type_check.expect(
        a_type.dtype.kind == 'f', b_type.dtype.kind == 'f', a_type.ndim >= 1, b_type.ndim >= 1
    )
    a_ndim, b_ndim = type_check.eval(a_type.ndim), type_check.eval(b_type.ndim)
    a_inner = -2 if transa and a_ndim > 1 else -1
    b_inner = -1 if b_ndim == 1 or transb else -2
    type_check.expect(a_type.shape[a_inner] == b_type.shape[b_inner])
    if a_ndim > 2 and b_ndim > 2:
        type_check.expect_broadcast_shapes(a_type.shape[:-2], b_type.shape[:-2])


class MatMul(FunctionNode):
    """Product of matrices, or of stacks of matrices with broadcasting."""

    _checked_natively = True

    def __init__(self, transa=False, transb=False, transc=False, dtype=None):
        self.transa = transa
        self.transb = transb
        self.transc = transc
        self.dtype = dtype

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('a', 'b'))
        _matrix_type_check(*in_types, self.transa, self.transb)

    def forward(self, inputs):
        a, b = inputs
        self.retain_inputs((0, 1))
        y = _matmul(a, b, self.transa, self.transb, self.transc, backend.get_array_module(a))
        return (_as_array(y, self.dtype or y.dtype),)

    def forward_chainerx(self, inputs):
        a, b = inputs
        if a.dtype != b.dtype or (self.dtype is not None and self.dtype != a.dtype):
            return Fallback
        return (_matmul(a, b, self.transa, self.transb, self.transc, chainerx),)

    def _gradients(self, targets, a, b, gy, matmul, reshape, sum_to, cast):
        """Gradients with ``matmul(x, y, transx, transy, transz)``, on arrays or variables."""
        a_shape, b_shape = a.shape, b.shape
        # Convert vectors to matrices, with the axes that the product omitted.
        if a.ndim == 1:
            a, gy = (
                reshape(a, (1, -1)),
                reshape(gy, (*gy.shape[:-1], 1, *gy.shape[-1:]) if b.ndim > 1 else (1,)),
            )
        if b.ndim == 1:
            b, gy = reshape(b, (-1, 1)), reshape(gy, (*gy.shape, 1))
        transa, transb = self.transa and len(a_shape) > 1, self.transb and len(b_shape) > 1
        gradients = []
        for i in targets:
            if i == 0:
                gx = matmul(gy, b, self.transc, not transb, transa)
                shape = a_shape if len(a_shape) > 1 else a.shape
            else:
                gx = matmul(a, gy, not transa, self.transc, transb)
                shape = b_shape if len(b_shape) > 1 else b.shape
            if gx.shape != shape:
                gx = sum_to(gx, shape)
            x_shape = (a_shape, b_shape)[i]
            if gx.shape != x_shape:
                gx = reshape(gx, x_shape)
            gradients.append(cast(gx, (a, b)[i].dtype))
        return tuple(gradients)

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        a, b = self.get_retained_inputs()

        def product(x, y, transx, transy, transz):
            return MatMul(transx, transy, transz).apply((x, y))[0]

        return self._gradients(
            target_input_indexes, a, b, grad_outputs[0], product, F.reshape, F.sum_to, F.cast
        )

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (a, b), _ = self._retained_arrays()
        xp = backend.get_array_module(a)

        def product(x, y, transx, transy, transz):
            return _matmul(x, y, transx, transy, transz, xp)

        return self._gradients(
            target_input_indexes,
            a,
            b,
            grad_outputs[0],
            product,
            xp.reshape,
            utils.sum_to,
            lambda x, dtype: x.astype(dtype, copy=False),
        )


def matmul(a, b, transa=False, transb=False):
    """Matrix product of two arrays, or of stacks of matrices with broadcasting.

    .. math:: y_{\\ldots ij} = \\sum_k a_{\\ldots ik} \\, b_{\\ldots kj}

    Args:
        a (:class:`~chainer.Variable` or array): Left operand, floating point: a vector,
            matrix or stack.
        b (:class:`~chainer.Variable` or array): Right operand, likewise.
        transa (bool): Whether to transpose each matrix of ``a``; no effect on a vector.
        transb (bool): Whether to transpose each matrix of ``b``; no effect on a vector.

    Returns:
        ~chainer.Variable: Product, with the shape and dtype of :func:`numpy.matmul`.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> a = np.array([[1, 2], [3, 4]], np.float32)
        >>> b = np.array([[0, 1], [1, 0]], np.float32)
        >>> F.matmul(a, b).array
        array([[2., 1.],
               [4., 3.]], dtype=float32)
        >>> F.matmul(a, a, transb=True).array
        array([[ 5., 11.],
               [11., 25.]], dtype=float32)

    """
    return MatMul(transa=transa, transb=transb).apply((a, b))[0]


class BatchMatMul(FunctionNode):
    """Products of the matrices of two batches; vectors of a batch count as columns."""

    def __init__(self, transa=False, transb=False):
        self.transa = transa
        self.transb = transb

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('a', 'b'))
        a_type, b_type = in_types
        type_check.expect(
            a_type.dtype == b_type.dtype,
            a_type.dtype.kind == 'f',
            a_type.ndim >= 2,
            a_type.ndim <= 3,
            b_type.ndim >= 2,
            b_type.ndim <= 3,
            a_type.shape[0] == b_type.shape[0],
        )

    def forward(self, inputs):
        a, b = inputs
        self.retain_inputs((0, 1))
        a, b = [x.reshape(*x.shape, 1) if x.ndim == 2 else x for x in inputs]
        return (_matmul(a, b, self.transa, self.transb, False, backend.get_array_module(a)),)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        a, b = self.get_retained_inputs()
        (gy,) = grad_outputs
        a3, b3 = [F.reshape(x, (*x.shape, 1)) if x.ndim == 2 else x for x in (a, b)]
        gradients = []
        for i in target_input_indexes:
            if i == 0:
                (gx,) = MatMul(False, not self.transb, self.transa).apply((gy, b3))
            else:
                (gx,) = MatMul(not self.transa, False, self.transb).apply((a3, gy))
            gradients.append(F.reshape(gx, (a, b)[i].shape))
        return tuple(gradients)


def batch_matmul(a, b, transa=False, transb=False):
    """Products of the matrices of two batches.

    .. deprecated:: v3.0
        Use :func:`~chainer.functions.matmul`.

    Args:
        a (:class:`~chainer.Variable` or array): Batch of matrices or of column vectors,
            floating point of shape :math:`(N, I, J)` or :math:`(N, I)`.
        b (:class:`~chainer.Variable` or array): Batch of the same size and dtype.
        transa (bool): Whether to transpose each matrix of ``a``.
        transb (bool): Whether to transpose each matrix of ``b``.

    Returns:
        ~chainer.Variable: Batch of products, of shape :math:`(N, K, L)` and of the dtype of the
        inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If dtypes or sizes of the batches differ, or
            the number of axes of an input is wrong.

    .. admonition:: Example

        >>> import warnings
        >>> a, b = np.ones((5, 2, 3), np.float32), np.ones((5, 3, 4), np.float32)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter('ignore')
        ...     F.batch_matmul(a, b).shape
        (5, 2, 4)

    """
    import warnings

    warnings.warn(
        'batch_matmul is deprecated. Use matmul instead.', DeprecationWarning, stacklevel=2
    )
    return BatchMatMul(transa=transa, transb=transb).apply((a, b))[0]
