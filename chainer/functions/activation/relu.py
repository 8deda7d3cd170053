"""Rectified linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import utils
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.names.namespace import F
from chainer.functions import _base
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class ReLU(_base.UnaryFunction):
    """Rectified linear unit."""

    chainerx_routine = 'relu'
    _kernels = _base.kernels(retain=None, check=True)
    retains = 'y'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.maximum(x, 0)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return F.apply(ReLUGrad2(y), (gy,))[0] if m is F else _where_positive(y, gy)


class ReLUGrad2(_base.Operation):
    """Gradient of :class:`ReLU`: the gradient of the output where the output is positive."""

    _kernels = NO_KERNELS

    def __init__(self, y: Any) -> None:
        self._y = as_array(y)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (utils.force_array(_where_positive(self._y, inputs[0])),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(ReLUGrad2(self._y), gys)


def _where_positive(y, gy):
    return gy * (y > 0).astype(gy.dtype)


def relu(x: VariableLike) -> Variable:
    """Rectified linear unit.

    .. math:: f(x) = \\max(0, x)

    The derivative at zero is zero.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Nair and Hinton, Rectified linear units improve restricted Boltzmann machines, ICML 2010.

    .. admonition:: Example

        >>> F.relu(np.array([-1, 0, 2], np.float32)).array
        array([0., 0., 2.], dtype=float32)

    """
    return ReLU().apply((x,))[0]
