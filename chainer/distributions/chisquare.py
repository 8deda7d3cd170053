from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer import functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Chisquare(Parametric):
    r"""Chi-square distribution.

    .. math:: p(x; k) = \frac{x^{k / 2 - 1} e^{-x / 2}}{2^{k / 2} \Gamma(k / 2)},
        \quad x \ge 0

    Args:
        k (array or ~chainer.Variable): Positive number of degrees of freedom.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Chisquare(np.float32(2))
        >>> round(float(F.exp(d.log_prob(2.)).array), 3)  # exp(-x / 2) / 2
        0.184
        >>> d.mean, d.variance
        (variable(2.), variable(4.))

    """

    _param_names = ('k',)
    _support = 'positive'

    k: Parameter = Parameter('Number of degrees of freedom.')

    def __init__(self, k: VariableLike | float) -> None:
        (self.k,) = as_parameters(k=k)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.k)
        half = 0.5 * self.k
        return within(
            x.array >= 0,
            lambda x: (half - 1) * F.log(x) - 0.5 * x - math.log(2) * half - F.lgamma(half),
            x,
            1.0,
        )

    def sample_n(self, n: int) -> Variable:
        return as_variable(draw('chisquare', (n,) + self.batch_shape, self.k, self.k))

    @cache.cached_property
    def entropy(self) -> Variable:
        half = 0.5 * self.k
        return half + math.log(2) + F.lgamma(half) + (1 - half) * F.digamma(half)

    @cache.cached_property
    def mean(self) -> Variable:
        return self.k

    @cache.cached_property
    def variance(self) -> Variable:
        return 2 * self.k
