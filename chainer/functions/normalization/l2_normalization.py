"""L2 normalization."""

from __future__ import annotations

import chainer
from chainer import backend
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions import _base
from chainer.utils import type_check


class NormalizeL2(FunctionNode):
    """Division by the L2 norm along axes, plus a small number."""

    def __init__(self, eps=1e-5, axis=1):
        self.eps = eps
        if axis is None:
            raise TypeError('axis must be an int or a tuple of ints, not None')
        self.axis = _base.parse_axis(axis)

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        _base.expect_axis(in_types[0], self.axis)

    def forward(self, inputs):
        self.retain_inputs((0,))
        (x,) = inputs
        xp = backend.get_array_module(x)
        norm = _base.norm_of_squared(xp, xp.square(x).sum(axis=self.axis, keepdims=True))
        norm = norm + x.dtype.type(self.eps)
        return (_base._as_array(x / norm, x.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx = forward

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        (x,) = self.get_retained_inputs()
        return (self._gradient(F, x, grad_outputs[0]),)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        x = self._retained_arrays()[0][0]
        (gy,) = grad_outputs
        return (_base._as_array(self._gradient(cuda.get_array_module(x), x, gy), x.dtype),)

    def _gradient(self, m, x, gy):
        def total(a):
            return m.sum(a, axis=self.axis, keepdims=True)

        square = total(x * x)
        # The norm has no gradient at zero, so treat it as a constant there.
        zero = (getattr(square, 'array', square) == 0).astype(x.dtype)
        norm = m.sqrt(square + zero)
        scale = norm - zero + x.dtype.type(self.eps)
        slope = total(x * gy) / (norm * scale * scale)
        return gy / scale - x * (slope * (1 - zero))


def normalize(x, eps=1e-5, axis=1):
    """L2 normalization.

    .. math:: y = \\frac{x}{\\|x\\|_2 + \\epsilon}

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        eps (float): Added to norms.
        axis (int or tuple of int): Axes of the norm.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``axis`` is neither an int nor a tuple of ints.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or lacks an axis.

    .. admonition:: Example

        >>> x = np.array([[3, 4]], np.float32)
        >>> chainer.functions.normalize(x, eps=0).array
        array([[0.6, 0.8]], dtype=float32)

    """
    return NormalizeL2(eps, axis).apply((x,))[0]
