"""Clipped rectified linear units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions import _base
from chainer.variable import as_array

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class ClippedReLU(_base.UnaryFunction):
    """Rectified linear unit with an upper bound."""

    _kernels = _base.kernels(retain=None, check=True)

    def __init__(self, z: float) -> None:
        if not isinstance(z, float):
            raise TypeError(f'z must be float value, not {z!r}')
        if not z > 0:
            raise ValueError(f'z must be positive, got {z}')
        self.cap = z

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.clipped_relu(inputs[0], self.cap),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.minimum(xp.maximum(x, 0), self.cap)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        x = as_array(x)
        return gy * ((x > 0) & (x < self.cap))


def clipped_relu(x: VariableLike, z: float = 20.0) -> Variable:
    """Rectified linear unit with an upper bound.

    .. math:: f(x) = \\min(\\max(0, x), z)

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        z (float): Upper bound, positive.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``z`` is not a float.
        ValueError: If ``z`` is not positive.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.clipped_relu(np.array([-1, 2, 30], np.float32), z=20.).array
        array([ 0.,  2., 20.], dtype=float32)

    """
    return ClippedReLU(z).apply((x,))[0]


def relu6(x: VariableLike) -> Variable:
    """Rectified linear unit with the upper bound six.

    .. math:: f(x) = \\min(\\max(0, x), 6)

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Krizhevsky, `Convolutional Deep Belief Networks on CIFAR-10
    <https://www.cs.toronto.edu/~kriz/conv-cifar10-aug2010.pdf>`_, 2010.

    .. admonition:: Example

        >>> F.relu6(np.array([-1, 2, 30], np.float32)).array
        array([0., 2., 6.], dtype=float32)

    """
    return clipped_relu(x, z=6.0)
