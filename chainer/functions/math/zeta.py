"""Hurwitz zeta function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

import chainerx
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.backends import cuda
from chainer.functions._arrays import sent_like, special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Zeta(UnaryFunction):
    """Function node of :func:`~chainer.functions.zeta`."""

    # The series of ChainerX has no value at infinity.
    _kernels = CHECKED_BY_CHAINERX

    def __init__(self, x: float | NdArray) -> None:
        self._x = x

    @property
    def label(self) -> str:
        return 'zeta'

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (q,) = inputs
        x = sent_like(q, numpy.asarray(cuda.to_cpu(self._x), q.dtype))
        return (chainerx.zeta(x, q),)

    def compute(self, xp: Xp, q: NdArray) -> NdArray:
        return special(xp).zeta(self._x, q)

    def gradient(self, m: Namespace, q: Operand, y: Operand, gy: Operand) -> Operand:
        x = self._x
        return -x * m.zeta(x + 1, q) * gy


def zeta(x: float | NdArray, q: VariableLike) -> Variable:
    """Elementwise Hurwitz zeta function :math:`\\sum_{k=0}^\\infty (k + q)^{-x}`.

    There is no gradient with respect to ``x``.

    Args:
        x (float or array): Exponents, larger than one.
        q (:class:`~chainer.Variable` or array): Shifts, of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``q``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``q`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.zeta(2, np.array([1, 2], np.float32)).array.round(3)
        array([1.645, 0.645], dtype=float32)

    """
    return Zeta(x).apply((q,))[0]
