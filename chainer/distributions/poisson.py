from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Poisson(Parametric):
    r"""Poisson distribution.

    .. math:: P(x; \lambda) = \frac{\lambda^x e^{-\lambda}}{x!}, \quad x = 0, 1, \ldots

    Args:
        lam (array or ~chainer.Variable): Positive mean :math:`\lambda`.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Poisson(np.float32(2))
        >>> F.exp(d.log_prob(np.array([0, 1, 2]))).array.round(3)
        array([0.135, 0.271, 0.271], dtype=float32)
        >>> d.mean, d.variance
        (variable(2.), variable(2.))

    """

    _param_names = ('lam',)
    _support = 'non negative integer'

    lam: Parameter = Parameter('Mean :math:`\\lambda`.')

    def __init__(self, lam: VariableLike | float) -> None:
        (self.lam,) = as_parameters(lam=lam)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.lam)
        return within(
            x.array >= 0, lambda x: x * F.log(self.lam) - self.lam - F.lgamma(x + 1), x, 0.0
        )

    def sample_n(self, n: int) -> Variable:
        return as_variable(draw('poisson', (n,) + self.batch_shape, self.lam, self.lam))

    @cache.cached_property
    def mean(self) -> Variable:
        return self.lam

    @cache.cached_property
    def variance(self) -> Variable:
        return self.lam


@distribution.register_kl(Poisson, Poisson)
def _kl_poisson_poisson(dist1, dist2):
    lam1, lam2 = dist1.lam, dist2.lam
    return lam1 * (F.log(lam1) - F.log(lam2)) - lam1 + lam2
