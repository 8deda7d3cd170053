from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import distribution, functions as F
from chainer.distributions._base import LocationScale, as_parameters, as_point
from chainer.utils import argument, cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class Normal(LocationScale):
    r"""Normal(loc, scale=None, *, log_scale=None)

    Normal distribution.

    .. math:: p(x; \mu, \sigma) = \frac{1}{\sqrt{2 \pi \sigma^2}}
        \exp\left(-\frac{(x - \mu)^2}{2 \sigma^2}\right)

    Args:
        loc (array or ~chainer.Variable): Mean :math:`\mu`.
        scale (array or ~chainer.Variable): Standard deviation :math:`\sigma`.
        log_scale (array or ~chainer.Variable): :math:`\log \sigma`, instead of ``scale``.

    Raises:
        ValueError: Unless exactly one of ``scale`` and ``log_scale`` is given.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> loc = chainer.Variable(np.array([0, 1], np.float32))
        >>> d = D.Normal(loc, np.array([1, 2], np.float32))
        >>> d.log_prob(np.zeros(2, np.float32)).array.round(4)
        array([-0.9189, -1.7371], dtype=float32)
        >>> d.sample(3).shape
        (3, 2)
        >>> F.sum(d.sample()).backward()  # samples are loc + scale * noise
        >>> loc.grad
        array([1., 1.], dtype=float32)

    """

    _standard = 'standard_normal'

    def __init__(
        self, loc: VariableLike | float, scale: VariableLike | float | None = None, **kwargs: Any
    ) -> None:
        (log_scale,) = argument.parse_kwargs(kwargs, ('log_scale', None))
        if (scale is None) == (log_scale is None):
            raise ValueError('Either `scale` or `log_scale` (not both) must have a value.')
        if scale is not None:
            super().__init__(loc, scale)
        else:
            # Set the value that would otherwise be computed from scale.
            self.loc, self.log_scale = as_parameters(loc=loc, log_scale=log_scale)
            self.scale = F.exp(self.log_scale)

    @cache.cached_property
    def log_scale(self) -> Variable:
        """Logarithm of the standard deviation."""
        return F.log(self.scale)

    def cdf(self, x: VariableLike | float) -> Variable:
        return F.ndtr(self._standardize(x))

    def survival_function(self, x: VariableLike | float) -> Variable:
        return F.ndtr(-self._standardize(x))

    def log_cdf(self, x: VariableLike | float) -> Variable:
        return F.log_ndtr(self._standardize(x))

    def log_survival_function(self, x: VariableLike | float) -> Variable:
        return F.log_ndtr(-self._standardize(x))

    def icdf(self, x: VariableLike | float) -> Variable:
        return self.loc + self.scale * F.ndtri(as_point(x, self.loc))

    def log_prob(self, x: VariableLike | float) -> Variable:
        return -0.5 * self._standardize(x) ** 2 - self.log_scale - _HALF_LOG_2PI

    def prob(self, x: VariableLike | float) -> Variable:
        return F.exp(self.log_prob(x))

    @cache.cached_property
    def entropy(self) -> Variable:
        return self.log_scale + (0.5 + _HALF_LOG_2PI)

    @cache.cached_property
    def mean(self) -> Variable:
        return self.loc

    @cache.cached_property
    def stddev(self) -> Variable:
        return self.scale

    @cache.cached_property
    def variance(self) -> Variable:
        return self.scale**2


@distribution.register_kl(Normal, Normal)
def _kl_normal_normal(dist1, dist2):
    ratio = (dist1.scale / dist2.scale) ** 2
    distance = ((dist1.loc - dist2.loc) / dist2.scale) ** 2
    return dist2.log_scale - dist1.log_scale + 0.5 * (ratio + distance - 1)
