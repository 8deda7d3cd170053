from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Gamma(Parametric):
    r"""Gamma distribution.

    .. math:: p(x; k, \theta) = \frac{x^{k - 1} e^{-x / \theta}}{\Gamma(k) \theta^k},
        \quad x \ge 0

    Samples are differentiable with respect to ``theta``.

    Args:
        k (array or ~chainer.Variable): Positive shape parameter :math:`k`.
        theta (array or ~chainer.Variable): Positive scale parameter :math:`\theta`.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Gamma(k=np.float32(2), theta=np.float32(3))
        >>> d.mean, d.variance
        (variable(6.), variable(18.))

    """

    _param_names = ('k', 'theta')
    _support = 'positive'

    k: Parameter = Parameter('Shape parameter :math:`k`.')
    theta: Parameter = Parameter('Scale parameter :math:`\\theta`.')

    def __init__(self, k: VariableLike | float, theta: VariableLike | float) -> None:
        self.k, self.theta = as_parameters(k=k, theta=theta)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.k)
        k, theta = self.k, self.theta
        return within(
            x.array >= 0,
            lambda x: (k - 1) * F.log(x) - x / theta - F.lgamma(k) - k * F.log(theta),
            x,
            1.0,
        )

    def sample_n(self, n: int) -> Variable:
        return self.theta * draw('standard_gamma', (n,) + self.batch_shape, self.k, self.k)

    @cache.cached_property
    def entropy(self) -> Variable:
        k = self.k
        return k + F.log(self.theta) + F.lgamma(k) + (1 - k) * F.digamma(k)

    @cache.cached_property
    def mean(self) -> Variable:
        return self.k * self.theta

    @cache.cached_property
    def variance(self) -> Variable:
        return self.k * self.theta**2


@distribution.register_kl(Gamma, Gamma)
def _kl_gamma_gamma(dist1, dist2):
    k1, k2 = dist1.k, dist2.k
    ratio = dist1.theta / dist2.theta
    return (
        (k1 - k2) * F.digamma(k1)
        - F.lgamma(k1)
        + F.lgamma(k2)
        - k2 * F.log(ratio)
        + k1 * (ratio - 1)
    )
