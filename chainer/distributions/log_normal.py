from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.distributions.normal import _HALF_LOG_2PI
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class LogNormal(Parametric):
    r"""Log-normal distribution: the exponential of a normal variable.

    .. math:: p(x; \mu, \sigma) = \frac{1}{\sqrt{2 \pi \sigma^2} x}
        \exp\left(-\frac{(\log x - \mu)^2}{2 \sigma^2}\right), \quad x > 0

    Args:
        mu (array or ~chainer.Variable): Mean :math:`\mu` of the logarithm.
        sigma (array or ~chainer.Variable): Standard deviation :math:`\sigma` of the logarithm.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.LogNormal(np.float32(0), np.float32(1))
        >>> round(float(d.mean.array), 3)  # exp 0.5
        1.649
        >>> d.log_prob(-1.)
        variable(-inf)

    """

    _param_names = ('mu', 'sigma')
    _support = 'positive'

    mu: Parameter = Parameter('Mean of the logarithm.')
    sigma: Parameter = Parameter('Standard deviation of the logarithm.')

    def __init__(self, mu: VariableLike | float, sigma: VariableLike | float) -> None:
        self.mu, self.sigma = as_parameters(mu=mu, sigma=sigma)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.mu)

        def inside(x):
            log_x = F.log(x)
            z = (log_x - self.mu) / self.sigma
            return -0.5 * z**2 - log_x - F.log(self.sigma) - _HALF_LOG_2PI

        return within(x.array > 0, inside, x, 1.0)

    def sample_n(self, n: int) -> Variable:
        eps = draw('standard_normal', (n,) + self.batch_shape, self.mu)
        return F.exp(self.mu + self.sigma * eps)

    @cache.cached_property
    def entropy(self) -> Variable:
        return self.mu + F.log(self.sigma) + (0.5 + _HALF_LOG_2PI)

    @cache.cached_property
    def mean(self) -> Variable:
        return F.exp(self.mu + 0.5 * self.sigma**2)

    @cache.cached_property
    def variance(self) -> Variable:
        return F.exp(2 * self.mu + self.sigma**2) * F.expm1(self.sigma**2)


@distribution.register_kl(LogNormal, LogNormal)
def _kl_log_normal_log_normal(dist1, dist2):
    # The exponential is bijective, so it preserves divergences.
    ratio = (dist1.sigma / dist2.sigma) ** 2
    distance = ((dist1.mu - dist2.mu) / dist2.sigma) ** 2
    return 0.5 * (ratio - F.log(ratio) + distance - 1)
