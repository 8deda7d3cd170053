"""Parametric rectified linear unit."""

from __future__ import annotations

import chainer
import chainerx
from chainer import utils
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class PReLUFunction(FunctionNode):
    """Rectified linear unit with learned slopes for negative values."""

    _native_inputs = 0, 1

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 'W'))
        x_type, W_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            W_type.dtype == x_type.dtype,
            x_type.ndim >= W_type.ndim + 1,
            x_type.shape[1 : 1 + type_check.eval(W_type.ndim)] == W_type.shape,
        )

    def forward(self, inputs):
        x, W = inputs
        self.retain_inputs((0, 1))
        xp = cuda.get_array_module(x)
        y = xp.minimum(x, 0)
        y *= _extended(W, x)
        y += xp.maximum(x, 0)
        return (y,)

    def forward_chainerx(self, inputs):
        x, W = inputs
        return (chainerx.where(x >= 0, x, x * _extended(W, x)),)

    def _gradients(self, sum_to, targets, x, W, gy):
        shape = self.inputs[1].shape
        negative = (chainer.as_array(x) < 0).astype(gy.dtype)
        gy_negative = gy * negative
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(gy_negative * _extended(W, x) + (gy - gy_negative))
            else:
                gW = sum_to(gy_negative * x, _extended_shape(shape, x.ndim))
                gxs.append(gW.reshape(shape))
        return tuple(gxs)

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        x, W = self.get_retained_inputs()
        W = F.broadcast_to(_extended(W, x), x.shape)
        return self._gradients(F.sum_to, target_input_indexes, x, W, grad_outputs[0])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        x, W = self._retained_arrays()[0]
        return self._gradients(utils.sum_to, target_input_indexes, x, W, grad_outputs[0])


def _extended_shape(shape, ndim):
    """Shape that broadcasts along the first and last axes of an input."""
    return (1, *shape, *(1,) * (ndim - 1 - len(shape)))


def _extended(W, x):
    return W if W.ndim == x.ndim else W.reshape(_extended_shape(W.shape, x.ndim))


def prelu(x, W):
    """Parametric rectified linear unit.

    .. math:: f(x) = \\begin{cases} x & x \\ge 0 \\\\ W x & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, of shape
            ``(N, ...)``.
        W (:class:`~chainer.Variable` or array): Slopes for negative values, of the dtype of
            ``x``. Its axes match the axes of ``x`` starting from the second one.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or ``W`` does not
            fit.

    See: He et al., `Delving Deep into Rectifiers <https://arxiv.org/abs/1502.01852>`_, 2015.

    .. admonition:: Example

        >>> x = np.array([[-1, 2], [-3, -4]], np.float32)
        >>> F.prelu(x, np.array([0.5, 0.25], np.float32)).array
        array([[-0.5,  2. ],
               [-1.5, -1. ]], dtype=float32)

    """
    return PReLUFunction().apply((x, W))[0]
