from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, as_parameters, as_point, draw, within
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def _log_norm(alpha, alpha0):
    return F.sum(F.lgamma(alpha), axis=-1) - F.lgamma(alpha0)


class Dirichlet(distribution.Distribution):
    r"""Dirichlet distribution over vectors of sum one.

    .. math:: p(x; \alpha) = \frac{\Gamma(\sum_i \alpha_i)}{\prod_i \Gamma(\alpha_i)}
        \prod_i x_i^{\alpha_i - 1}

    Args:
        alpha (array or ~chainer.Variable): Positive parameters, along the last axis.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Dirichlet(np.array([1, 1, 2], np.float32))
        >>> d.mean
        variable([0.25, 0.25, 0.5 ])
        >>> samples = d.sample(5)
        >>> samples.shape, bool(np.allclose(samples.array.sum(axis=-1), 1))
        ((5, 3), True)

    """

    alpha: Parameter = Parameter('Parameters :math:`\\alpha`.')

    def __init__(self, alpha: VariableLike | float) -> None:
        (self.alpha,) = as_parameters(alpha=alpha)

    @cache.cached_property
    def alpha0(self) -> Variable:
        """Sum of the concentrations."""
        return F.sum(self.alpha, axis=-1)

    @property
    def params(self) -> dict[str, Variable]:
        return {'alpha': self.alpha}

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.alpha.shape[:-1]

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.alpha.shape[-1:]

    @property
    def support(self) -> str:
        return '[0, 1]'

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.alpha)
        valid = (x.array >= 0) & (x.array <= 1)
        log_x = within(valid, lambda x: (self.alpha - 1) * F.log(x), x, 0.5)
        return F.sum(log_x, axis=-1) - _log_norm(self.alpha, self.alpha0)

    def sample_n(self, n: int) -> Variable:
        # The samples of each of the batch follow each other, as those of numpy.random.dirichlet do.
        k = self.event_shape[0]
        alpha = F.reshape(self.alpha, (-1, 1, k))
        gammas = draw('standard_gamma', (len(alpha), n, k), alpha, alpha)
        samples = (gammas / gammas.sum(axis=-1, keepdims=True)).swapaxes(0, 1)
        return as_variable(samples.reshape((n,) + self.alpha.shape))

    def _spread(self):
        return F.broadcast_to(F.expand_dims(self.alpha0, -1), self.alpha.shape)

    @cache.cached_property
    def entropy(self) -> Variable:
        alpha, alpha0 = self.alpha, self.alpha0
        return (
            _log_norm(alpha, alpha0)
            + (alpha0 - alpha.shape[-1]) * F.digamma(alpha0)
            - F.sum((alpha - 1) * F.digamma(alpha), axis=-1)
        )

    @cache.cached_property
    def mean(self) -> Variable:
        return self.alpha / self._spread()

    @cache.cached_property
    def variance(self) -> Variable:
        alpha, alpha0 = self.alpha, self._spread()
        return alpha * (alpha0 - alpha) / (alpha0**2 * (alpha0 + 1))


@distribution.register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(dist1, dist2):
    a1, a2 = dist1.alpha, dist2.alpha
    slope = F.digamma(a1) - F.digamma(dist1._spread())
    return (
        _log_norm(a2, dist2.alpha0)
        - _log_norm(a1, dist1.alpha0)
        + F.sum((a1 - a2) * slope, axis=-1)
    )
