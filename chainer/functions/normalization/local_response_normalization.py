"""Local response normalization."""

from __future__ import annotations

import chainerx
from chainer.function_node import FunctionNode
from chainer.functions._fused import FusedFunction
from chainer.utils import type_check


def _window_sum(x, half):
    """Sums each element and ``half`` neighbours on each side along the second axis."""
    y = x.copy()
    for i in range(1, min(half, x.shape[1] - 1) + 1):
        y[:, i:] += x[:, :-i]
        y[:, :-i] += x[:, i:]
    return y


class _WindowSum(FunctionNode):
    """Linear and symmetric: its gradient is itself."""

    def __init__(self, half):
        self.half = half

    def forward(self, inputs):
        return (_window_sum(inputs[0], self.half),)

    def forward_chainerx(self, inputs):
        (x,) = inputs
        if x.size == 0:
            return (x,)
        size = 2 * self.half + 1
        # Average pooling with zero padding over an image with the channels as rows.
        image = x.reshape(len(x), 1, x.shape[1], -1)
        y = chainerx.average_pool(image, (size, 1), 1, (self.half, 0), 'zero') * size
        return (y.reshape(x.shape),)

    def backward(self, target_input_indexes, grad_outputs):
        return _WindowSum(self.half).apply(grad_outputs)


class LocalResponseNormalization(FusedFunction):
    """Division by a power of the sum of squares over neighbouring channels."""

    def __init__(self, n=5, k=2, alpha=1e-4, beta=0.75):
        self.n = n
        self.k = k
        self.alpha = alpha
        self.beta = beta

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)

    def forward(self, inputs):
        (x,) = inputs
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        scale = _window_sum(x * x, self.n // 2)
        scale *= x.dtype.type(self.alpha)
        scale += x.dtype.type(self.k)
        self._unit_scale = scale
        return (x * scale ** x.dtype.type(-self.beta),)

    def gradients(self, targets, xs, ys, gys):
        x, y, gy = xs[0], ys[0], gys[0]
        scale = self._unit_scale
        gx = _window_sum(y * gy / scale, self.n // 2)
        gx *= x
        gx *= x.dtype.type(-2 * self.alpha * self.beta)
        gx += gy * scale ** x.dtype.type(-self.beta)
        return (gx,)

    def forward_chainerx(self, inputs):
        (x,) = inputs
        if x.dtype == 'float16':
            return super().forward_chainerx(inputs)
        (squares,) = _WindowSum(self.n // 2).forward_chainerx((x * x,))
        # Faster than a power, and equally precise in these dtypes.
        return (x * chainerx.exp(chainerx.log(squares * self.alpha + self.k) * -self.beta),)

    def compose(self, x):
        (squares,) = _WindowSum(self.n // 2).apply((x * x,))
        return (x * (squares * self.alpha + self.k) ** -self.beta,)


def local_response_normalization(x, n=5, k=2, alpha=1e-4, beta=0.75):
    """Local response normalization across neighbouring channels.

    .. math:: y_i = x_i \\Big(k + \\alpha
        \\sum_{j=\\max(1, i - \\lfloor n/2 \\rfloor)}^{\\min(N, i + \\lfloor n/2 \\rfloor)}
        x_j^2 \\Big)^{-\\beta}

    where :math:`N` is the number of channels.

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            (batch, channels, ...).
        n (int): Width of the window.
        k (float): Offset.
        alpha (float): Factor of the sum of squares.
        beta (float): Exponent.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or has less than
            two axes.

    See: Krizhevsky et al., ImageNet classification with deep convolutional neural networks,
    NeurIPS 2012.

    .. admonition:: Example

        >>> x = np.array([[1, 2, 3]], np.float32)
        >>> F.local_response_normalization(x, n=3, k=1, alpha=1, beta=1).array.round(4)
        array([[0.1667, 0.1333, 0.2143]], dtype=float32)

    """
    return LocalResponseNormalization(n, k, alpha, beta).apply((x,))[0]
