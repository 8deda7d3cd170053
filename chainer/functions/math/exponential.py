"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Exp(UnaryFunction):
    """Function node of :func:`~chainer.functions.exp`."""

    chainerx_routine = 'exp'
    retains = 'y'

    @property
    def label(self) -> str:
        return 'exp'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.exp(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * y


def exp(x: VariableLike) -> Variable:
    """Elementwise exponential :math:`e^x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.exp(np.array([0, 1, -np.inf], np.float32)).array.round(3)
        array([1.   , 2.718, 0.   ], dtype=float32)

    """
    return Exp().apply((x,))[0]


class Log(UnaryFunction):
    """Function node of :func:`~chainer.functions.log`."""

    chainerx_routine = 'log'

    @property
    def label(self) -> str:
        return 'log'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.log(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / x


def log(x: VariableLike) -> Variable:
    """Elementwise natural logarithm :math:`\\log x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.log(np.array([1, np.e, 10], np.float32)).array.round(3)
        array([0.   , 1.   , 2.303], dtype=float32)

    """
    return Log().apply((x,))[0]


class Log2(UnaryFunction):
    """Function node of :func:`~chainer.functions.log2`."""

    chainerx_routine = 'log2'

    @property
    def label(self) -> str:
        return 'log2'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.log2(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / x * (1 / math.log(2))


def log2(x: VariableLike) -> Variable:
    """Elementwise logarithm to base 2, :math:`\\log_2 x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.log2(np.array([0.5, 1, 8], np.float32)).array
        array([-1.,  0.,  3.], dtype=float32)

    """
    return Log2().apply((x,))[0]


class Log10(UnaryFunction):
    """Function node of :func:`~chainer.functions.log10`."""

    chainerx_routine = 'log10'

    @property
    def label(self) -> str:
        return 'log10'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.log10(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / x * (1 / math.log(10))


def log10(x: VariableLike) -> Variable:
    """Elementwise logarithm to base 10, :math:`\\log_{10} x`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.log10(np.array([0.1, 1, 1000], np.float32)).array.round(3)
        array([-1.,  0.,  3.], dtype=float32)

    """
    return Log10().apply((x,))[0]
