from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Exponential(Parametric):
    r"""Exponential distribution.

    .. math:: p(x; \lambda) = \lambda e^{-\lambda x}, \quad x \ge 0

    Args:
        lam (array or ~chainer.Variable): Positive rate :math:`\lambda`.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Exponential(np.float32(2))
        >>> d.mean, round(float(d.cdf(0.5).array), 3)
        (variable(0.5), 0.632)

    """

    _param_names = ('lam',)
    _support = 'positive'

    lam: Parameter = Parameter('Rate :math:`\\lambda`.')

    def __init__(self, lam: VariableLike | float) -> None:
        (self.lam,) = as_parameters(lam=lam)

    def cdf(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.lam)
        return within(x.array >= 0, lambda x: -F.expm1(-self.lam * x), x, 0.0, outside=0.0)

    def icdf(self, x: VariableLike | float) -> Variable:
        return -F.log1p(-as_point(x, self.lam)) / self.lam

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.lam)
        return within(x.array >= 0, lambda x: F.log(self.lam) - self.lam * x, x, 0.0)

    def sample_n(self, n: int) -> Variable:
        eps = draw('standard_exponential', (n,) + self.batch_shape, self.lam)
        return eps / self.lam

    @cache.cached_property
    def entropy(self) -> Variable:
        return 1.0 - F.log(self.lam)

    @cache.cached_property
    def mean(self) -> Variable:
        return 1.0 / self.lam

    @cache.cached_property
    def variance(self) -> Variable:
        return 1.0 / self.lam**2


@distribution.register_kl(Exponential, Exponential)
def _kl_exponential_exponential(dist1, dist2):
    ratio = dist2.lam / dist1.lam
    return ratio - F.log(ratio) - 1.0
