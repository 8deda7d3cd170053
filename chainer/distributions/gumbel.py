from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from chainer import distribution, functions as F
from chainer.distributions._base import LocationScale
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable

_EULER = float(numpy.euler_gamma)


class Gumbel(LocationScale):
    r"""Gumbel distribution.

    .. math:: p(x; \mu, \beta) = \frac{1}{\beta} e^{-z - e^{-z}},
        \quad z = \frac{x - \mu}{\beta}

    Args:
        loc (array or ~chainer.Variable): Mode :math:`\mu`.
        scale (array or ~chainer.Variable): Scale :math:`\beta`.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Gumbel(np.float32(0), np.float32(1))
        >>> round(float(d.mean.array), 4), d.log_prob(0.)
        (0.5772, variable(-1.))

    """

    _standard = 'gumbel'

    def log_prob(self, x: VariableLike | float) -> Variable:
        z = self._standardize(x)
        return -z - F.exp(-z) - F.log(self.scale)

    @cache.cached_property
    def entropy(self) -> Variable:
        return F.log(self.scale) + (_EULER + 1)

    @cache.cached_property
    def mean(self) -> Variable:
        return self.loc + _EULER * self.scale

    @cache.cached_property
    def variance(self) -> Variable:
        return (math.pi**2 / 6) * self.scale**2


@distribution.register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(dist1, dist2):
    ratio = dist1.scale / dist2.scale
    shift = (dist2.loc - dist1.loc) / dist2.scale
    return (
        -F.log(ratio) + _EULER * (ratio - 1.0) + F.exp(shift + F.lgamma(ratio + 1.0)) - 1.0 - shift
    )
