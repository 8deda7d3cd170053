"""Quantiles of the normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer.functions._arrays import special
from chainer.functions._base import UnaryFunction

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class Ndtri(UnaryFunction):
    """Function node of :func:`~chainer.functions.ndtri`."""

    chainerx_routine = 'ndtri'
    # SciPy takes half the time.
    _kernels = CHECKED_BY_CHAINERX

    retains = 'y'

    @property
    def label(self) -> str:
        return 'ndtri'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return special(xp).ndtri(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return math.sqrt(2 * math.pi) * m.exp(y * y / 2) * gy


def ndtri(x: VariableLike) -> Variable:
    """Elementwise inverse of the standard normal cumulative distribution function.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.ndtri(np.array([0.025, 0.5, 0.975], np.float32)).array.round(3)
        array([-1.96,  0.  ,  1.96], dtype=float32)

    """
    return Ndtri().apply((x,))[0]
