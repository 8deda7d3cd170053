"""Local response normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.settings.half import is_half
from chainer.functions._base import Operation
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _window_sum(x, half):
    """Sums each element and ``half`` neighbours on each side along the second axis."""
    y = x.copy()
    for i in range(1, min(half, x.shape[1] - 1) + 1):
        y[:, i:] += x[:, :-i]
        y[:, :-i] += x[:, i:]
    return y


class _WindowSum(Operation):
    """Linear and symmetric: its gradient is itself."""

    def __init__(self, half: int) -> None:
        self.half = half

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (_window_sum(inputs[0], self.half),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        if x.size == 0:
            return (x,)
        size = 2 * self.half + 1
        # The mean with zeros around, over windows of an image whose rows are the channels.
        image = x.reshape(len(x), 1, x.shape[1], -1)
        y = chainerx.average_pool(image, (size, 1), 1, (self.half, 0), 'zero') * size
        return (y.reshape(x.shape),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(_WindowSum(self.half), gys)


class LocalResponseNormalization(Operation):
    """Division by a power of the sum of squares over neighbouring channels."""

    # ChainerX has a composition of several kernels, which does not pay for NumPy arrays.
    _kernels = NO_KERNELS

    def __init__(self, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75) -> None:
        self.n = n
        self.k = k
        self.alpha = alpha
        self.beta = beta

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        scale = _window_sum(x * x, self.n // 2)
        scale *= x.dtype.type(self.alpha)
        scale += x.dtype.type(self.k)
        return (x * scale ** x.dtype.type(-self.beta),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        sums: Any = _WindowSum(self.n // 2).forward_chainerx((x * x,))
        (squares,) = sums
        scale = squares * self.alpha + self.k
        if is_half(x.dtype):
            return (x * scale**-self.beta,)
        # Faster than a power, and as precise in these dtypes.
        return (x * chainerx.exp(chainerx.log(scale) * -self.beta),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (x,), (y,), (gy,) = xs, ys, gys
        (scale,) = m.apply(_WindowSum(self.n // 2), (x * x,))
        scale *= self.alpha
        scale += self.k
        (slope,) = m.apply(_WindowSum(self.n // 2), (y * gy / scale,))
        slope *= 2 * self.alpha * self.beta
        slope *= x
        gx = scale**-self.beta
        gx *= gy
        gx -= slope
        return (gx,)


def local_response_normalization(
    x: VariableLike, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75
) -> Variable:
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
