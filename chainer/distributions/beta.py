from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def _log_beta(a, b):
    return F.lgamma(a) + F.lgamma(b) - F.lgamma(a + b)


class Beta(Parametric):
    r"""Beta distribution.

    .. math:: p(x; a, b) = \frac{x^{a - 1} (1 - x)^{b - 1}}{B(a, b)}, \quad 0 \le x \le 1

    Args:
        a (array or ~chainer.Variable): Positive parameter :math:`a`.
        b (array or ~chainer.Variable): Positive parameter :math:`b`.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Beta(np.float32(2), np.float32(2))
        >>> round(float(F.exp(d.log_prob(0.5)).array), 3)  # 6 x (1 - x)
        1.5
        >>> d.mean, d.support
        (variable(0.5), '[0, 1]')

    """

    _param_names = ('a', 'b')
    _support = '[0, 1]'

    a: Parameter = Parameter('Parameter :math:`a`.')
    b: Parameter = Parameter('Parameter :math:`b`.')

    def __init__(self, a: VariableLike | float, b: VariableLike | float) -> None:
        self.a, self.b = as_parameters(a=a, b=b)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.a)
        valid = (x.array >= 0) & (x.array <= 1)
        return within(
            valid,
            lambda x: (
                (self.a - 1) * F.log(x) + (self.b - 1) * F.log1p(-x) - _log_beta(self.a, self.b)
            ),
            x,
            0.5,
        )

    def sample_n(self, n: int) -> Variable:
        samples = draw('beta', (n,) + self.batch_shape, self.a, self.a, self.b)
        return as_variable(samples)

    @cache.cached_property
    def entropy(self) -> Variable:
        a, b = self.a, self.b
        return (
            _log_beta(a, b)
            - (a - 1) * F.digamma(a)
            - (b - 1) * F.digamma(b)
            + (a + b - 2) * F.digamma(a + b)
        )

    @cache.cached_property
    def mean(self) -> Variable:
        return self.a / (self.a + self.b)

    @cache.cached_property
    def variance(self) -> Variable:
        total = self.a + self.b
        return self.a * self.b / (total**2 * (total + 1))


@distribution.register_kl(Beta, Beta)
def _kl_beta_beta(dist1, dist2):
    a1, b1, a2, b2 = dist1.a, dist1.b, dist2.a, dist2.b
    return (
        _log_beta(a2, b2)
        - _log_beta(a1, b1)
        + (a1 - a2) * F.digamma(a1)
        + (b1 - b2) * F.digamma(b1)
        + (a2 - a1 + b2 - b1) * F.digamma(a1 + b1)
    )
