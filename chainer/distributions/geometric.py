from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Geometric(Parametric):
    r"""Geometric distribution: number of trials up to the first success.

    .. math:: P(x; p) = p (1 - p)^{x - 1}, \quad x = 1, 2, \ldots

    Args:
        p (array or ~chainer.Variable): Probability of success of a trial.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Geometric(np.float32(0.5))
        >>> F.exp(d.log_prob(np.array([1, 2, 3]))).array.round(3), d.mean
        (array([0.5  , 0.25 , 0.125], dtype=float32), variable(2.))

    """

    _param_names = ('p',)
    _support = 'positive integer'

    p: Parameter = Parameter('Probability of success.')

    def __init__(self, p: VariableLike | float) -> None:
        (self.p,) = as_parameters(p=p)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.p)
        return within(x.array >= 1, lambda x: (x - 1) * F.log1p(-self.p) + F.log(self.p), x, 1.0)

    def sample_n(self, n: int) -> Variable:
        return as_variable(draw('geometric', (n,) + self.batch_shape, self.p, self.p))

    @cache.cached_property
    def mean(self) -> Variable:
        return 1.0 / self.p

    @cache.cached_property
    def variance(self) -> Variable:
        return (1.0 - self.p) / self.p**2


@distribution.register_kl(Geometric, Geometric)
def _kl_geometric_geometric(dist1, dist2):
    p1, p2 = dist1.p, dist2.p
    return (dist1.mean - 1) * (F.log1p(-p1) - F.log1p(-p2)) + F.log(p1) - F.log(p2)
