"""Swish."""

from __future__ import annotations

import chainer
from chainer import backend, utils
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions.activation.prelu import _extended, _extended_shape
from chainer.utils import type_check


class Swish(FunctionNode):
    """Input times the sigmoid of the scaled input."""

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 'beta'))
        x_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            beta_type.dtype == x_type.dtype,
            beta_type.ndim <= x_type.ndim - 1,
            beta_type.shape == x_type.shape[1 : 1 + type_check.eval(beta_type.ndim)],
        )

    def forward(self, inputs):
        x, beta = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        return (x * _sigmoid(xp, x * _extended(beta, x)),)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def _gradients(self, m, sum_to, targets, x, beta, gy):
        """Works on arrays and variables; ``beta`` broadcasts to ``x``."""
        shape = self.inputs[1].shape
        sigmoid = _sigmoid(m, x * beta)
        slope = x * sigmoid * (1 - sigmoid)
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(gy * (sigmoid + beta * slope))
            else:
                gbeta = sum_to(gy * x * slope, _extended_shape(shape, x.ndim))
                gxs.append(gbeta.reshape(shape))
        return tuple(gxs)

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        x, beta = self.get_retained_inputs()
        beta = F.broadcast_to(_extended(beta, x), x.shape)
        return self._gradients(F, F.sum_to, target_input_indexes, x, beta, grad_outputs[0])

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        x, beta = self._retained_arrays()[0]
        (gy,) = grad_outputs
        return self._gradients(
            cuda.get_array_module(gy), utils.sum_to, target_input_indexes, x, _extended(beta, x), gy
        )


def _sigmoid(m, x):
    return m.tanh(x * 0.5) * 0.5 + 0.5


def swish(x, beta):
    """Elementwise swish with learned scales.

    .. math:: f(x) = x \\cdot \\sigma(\\beta x)

    With :math:`\\beta = 1` it is :func:`~chainer.functions.silu`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, of shape
            ``(N, ...)``.
        beta (:class:`~chainer.Variable` or array): Scales, of the dtype of ``x``. Its axes match
            the axes of ``x`` starting from the second one.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or ``beta`` does
            not fit.

    See: Ramachandran et al., `Searching for Activation Functions
    <https://arxiv.org/abs/1710.05941>`_, 2017.

    .. admonition:: Example

        >>> x = np.array([[1, 1, -1]], np.float32)
        >>> F.swish(x, np.array([0, 1, 1], np.float32)).array.round(3)
        array([[ 0.5  ,  0.731, -0.269]], dtype=float32)

    """
    return Swish().apply((x, beta))[0]
