"""Linear (affine) function."""

from __future__ import annotations

import math

import numpy

import chainer
import chainerx
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class LinearFunction(FunctionNode):
    """y = x W^T + b of matrices."""

    _checked_natively = True
    _native_inputs = 0, 1

    def check_type_forward(self, in_types):
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check._argname((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f',
            w_type.dtype.kind == 'f',
            x_type.ndim == 2,
            w_type.ndim == 2,
            x_type.shape[1] == w_type.shape[1],
        )
        if n_in == 3:
            b_type = in_types[2]
            type_check._argname((b_type,), ('b',))
            type_check.expect(
                b_type.dtype == x_type.dtype,
                b_type.ndim == 1,
                b_type.shape[0] == w_type.shape[0],
            )

    def forward(self, inputs):
        x, W = inputs[:2]
        self.retain_inputs((0, 1))
        y = x.dot(W.T).astype(x.dtype, copy=False)
        if len(inputs) == 3:
            y += inputs[2]
        return (y,)

    def forward_chainerx(self, inputs):
        y = chainerx.linear(*inputs)
        dtype = inputs[0].dtype
        return ((y if y.dtype == dtype else y.astype(dtype)),)

    def backward(self, target_input_indexes, grad_outputs):
        x, W = self.get_retained_inputs()
        (gy,) = grad_outputs
        F = chainer.functions
        gxs = []
        for i in target_input_indexes:
            if i == 0:
                gxs.append(F.cast(F.matmul(gy, W), x.dtype))
            elif i == 1:
                gxs.append(F.cast(F.matmul(gy, x, transa=True), W.dtype))
            else:
                gxs.append(F.sum(gy, axis=0))
        return tuple(gxs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        (x, W), _ = self._retained_arrays()
        (gy,) = grad_outputs
        gxs = []
        for i in target_input_indexes:
            if i == 0:
                gxs.append(gy.dot(W).astype(x.dtype, copy=False))
            elif i == 1:
                gxs.append(_outer_product(gy, x).astype(W.dtype, copy=False))
            else:
                gxs.append(gy.sum(axis=0))
        return tuple(gxs)


def _outer_product(gy, x):
    """gy^T x; for a single row, a plain product is faster than BLAS."""
    if len(gy) == 1 and isinstance(gy, numpy.ndarray):
        return gy.reshape(-1, 1) * x
    return gy.T.dot(x)


def linear(x, W, b=None, n_batch_axes=1):
    """Linear function, or affine function: :math:`Y = x W^\\top + b`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            :math:`(s_1, ..., s_n, ...)`. Keeps the first ``n_batch_axes`` axes and flattens
            the others to length :math:`N`.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            :math:`(M, N)`.
        b (:class:`~chainer.Variable` or array): Bias of shape :math:`(M,)`, of the dtype of
            ``x`` (optional).
        n_batch_axes (int): Number of batch axes.

    Returns:
        ~chainer.Variable: Output of shape :math:`(s_1, ..., s_n, M)`, of the dtype of ``x``.

    Raises:
        ValueError: If ``n_batch_axes`` is less than one.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.Linear`

    .. admonition:: Example

        >>> x = np.array([[1, 2]], np.float32)
        >>> W = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
        >>> F.linear(x, W, np.array([0, 0, 10], np.float32)).array
        array([[ 1.,  2., 13.]], dtype=float32)
        >>> F.linear(np.ones((3, 4, 2), np.float32), W, n_batch_axes=2).shape
        (3, 4, 3)

    """
    if n_batch_axes <= 0:
        raise ValueError(f'n_batch_axes should be greater than 0, got {n_batch_axes}')
    if n_batch_axes > 1 or x.ndim > 2:
        # No -1 in the new shape: it is undefined for empty arrays.
        batch_shape = x.shape[:n_batch_axes]
        x = chainer.functions.reshape(
            x, (math.prod(batch_shape), math.prod(x.shape[n_batch_axes:]))
        )
    args = (x, W) if b is None else (x, W, b)
    (y,) = LinearFunction().apply(args)
    if n_batch_axes > 1:
        y = chainer.functions.reshape(y, (*batch_shape, y.shape[1]))
    return y
