from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import LocationScale, as_point
from chainer.functions._base import UnaryFunction
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.variable import Variable


class LaplaceCDF(UnaryFunction):
    """Cumulative distribution function of the standard Laplace distribution.

    .. admonition:: Example

        >>> from chainer.distributions.laplace import LaplaceCDF
        >>> LaplaceCDF().apply((np.array([0, 100], np.float32),))
        (variable([0.5, 1. ]),)

    """

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        half = 0.5 * xp.exp(-abs(x))
        return xp.where(x < 0, half, 1 - half)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return 0.5 * m.exp(-abs(x)) * gy


class LaplaceICDF(UnaryFunction):
    """Inverse cumulative distribution function of the standard Laplace distribution.

    .. admonition:: Example

        >>> from chainer.distributions.laplace import LaplaceICDF
        >>> y, = LaplaceICDF().apply((np.array([0.25, 0.75], np.float32),))
        >>> y.array.round(3)
        array([-0.693,  0.693], dtype=float32)

    """

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        tail = xp.log(2 * xp.minimum(x, 1 - x))
        return xp.where(x < 0.5, tail, -tail)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / m.minimum(x, 1 - x)


class Laplace(LocationScale):
    r"""Laplace distribution.

    .. math:: p(x; \mu, b) = \frac{1}{2b} \exp\left(-\frac{|x - \mu|}{b}\right)

    Args:
        loc (array or ~chainer.Variable): Mean :math:`\mu`.
        scale (array or ~chainer.Variable): Scale :math:`b`.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Laplace(np.float32(1), np.float32(2))
        >>> d.prob(1.), d.variance
        (variable(0.25), variable(8.))

    """

    _standard = 'laplace'

    def cdf(self, x: VariableLike | float) -> Variable:
        return LaplaceCDF().apply((self._standardize(x),))[0]

    def icdf(self, x: VariableLike | float) -> Variable:
        return self.loc + self.scale * LaplaceICDF().apply((as_point(x, self.loc),))[0]

    def log_prob(self, x: VariableLike | float) -> Variable:
        return -abs(self._standardize(x)) - F.log(2 * self.scale)

    def prob(self, x: VariableLike | float) -> Variable:
        return F.exp(-abs(self._standardize(x))) / (2 * self.scale)

    @cache.cached_property
    def entropy(self) -> Variable:
        return 1.0 + F.log(2 * self.scale)

    @cache.cached_property
    def mean(self) -> Variable:
        return self.loc

    @cache.cached_property
    def mode(self) -> Variable:
        return self.loc

    @cache.cached_property
    def stddev(self) -> Variable:
        return math.sqrt(2) * self.scale

    @cache.cached_property
    def variance(self) -> Variable:
        return 2 * self.scale**2


@distribution.register_kl(Laplace, Laplace)
def _kl_laplace_laplace(dist1, dist2):
    distance = abs(dist1.loc - dist2.loc)
    ratio = dist1.scale / dist2.scale
    return -F.log(ratio) + distance / dist2.scale + ratio * F.exp(-distance / dist1.scale) - 1.0
