"""Mish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions import _base
from chainer.functions.activation.swish import _sigmoid
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Mish(_base.UnaryFunction):
    """Input times the hyperbolic tangent of its softplus."""

    _kernels = _base.kernels(retain=None, check=True)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        return (self.compute(chainerx, inputs[0]),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return x * _tanh_softplus(xp, x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        tanh = _tanh_softplus(m, x)
        return gy * (tanh + x * (1 - tanh * tanh) * _sigmoid(m, x))


def _tanh_softplus(m, x):
    # With e = exp(x) it is (e^2 + 2 e) / (e^2 + 2 e + 2), divided by e^2 where e could overflow.
    positive = as_array(x) > 0
    e = m.exp(m.where(positive, -x, x))
    numerator = m.where(positive, 1, e * e) + e * 2
    return numerator / (numerator + m.where(positive, e * e * 2, 2))


def mish(x: VariableLike) -> Variable:
    """Elementwise mish.

    .. math:: f(x) = x \\tanh(\\log(1 + \\exp(x)))

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Misra, `Mish: A Self Regularized Non-Monotonic Activation Function
    <https://arxiv.org/abs/1908.08681>`_, 2019.

    .. admonition:: Example

        >>> F.mish(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-0.303,  0.   ,  0.865], dtype=float32)

    """
    return Mish().apply((x,))[0]
