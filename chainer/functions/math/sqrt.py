"""Square root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import backend
from chainer.backends import cuda
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Sqrt(UnaryFunction):
    """Function node of :func:`~chainer.functions.sqrt`."""

    chainerx_routine = 'sqrt'
    retains = 'y'

    @property
    def label(self) -> str:
        return 'sqrt'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.sqrt(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / (y * 2)


def sqrt(x: VariableLike) -> Variable:
    """Elementwise square root; negative elements give NaN.

    .. math:: y = \\sqrt x

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.sqrt(np.array([0, 2, 9], np.float32)).array.round(3)
        array([0.   , 1.414, 3.   ], dtype=float32)

    """
    return Sqrt().apply((x,))[0]


class RsqrtGPU(UnaryFunction):
    """Function node of :func:`~chainer.functions.rsqrt` on CUDA devices."""

    retains = 'y'

    @property
    def label(self) -> str:
        return 'rsqrt'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return 1 / xp.sqrt(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * y**3 * -0.5


def rsqrt(x: VariableLike) -> Variable:
    """Elementwise reciprocal of the square root, :math:`1 / \\sqrt{x}`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.rsqrt(np.array([1, 4, 100], np.float32)).array.round(3)
        array([1. , 0.5, 0.1], dtype=float32)

    """
    if backend.get_array_module(x) is cuda.cupy:
        return RsqrtGPU().apply((x,))[0]
    return 1.0 / sqrt(x)
