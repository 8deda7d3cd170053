from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from chainer import functions as F
from chainer.distributions._base import LocationScale, as_point, full_like
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Cauchy(LocationScale):
    r"""Cauchy distribution.

    .. math:: p(x; x_0, \gamma) = \frac{1}{\pi} \frac{\gamma}{(x - x_0)^2 + \gamma^2}

    Mean and variance do not exist: they warn and give NaN.

    Args:
        loc (array or ~chainer.Variable): Median :math:`x_0`.
        scale (array or ~chainer.Variable): Half width at half maximum :math:`\gamma`.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Cauchy(np.float32(0), np.float32(1))
        >>> round(float(d.cdf(1.).array), 3)
        0.75

    """

    _standard = 'standard_cauchy'

    def cdf(self, x: VariableLike | float) -> Variable:
        return F.arctan(self._standardize(x)) / math.pi + 0.5

    def icdf(self, x: VariableLike | float) -> Variable:
        return self.loc + self.scale * F.tan(math.pi * (as_point(x, self.loc) - 0.5))

    def log_prob(self, x: VariableLike | float) -> Variable:
        return -F.log1p(self._standardize(x) ** 2) - F.log(self.scale) - math.log(math.pi)

    @cache.cached_property
    def entropy(self) -> Variable:
        return F.log(self.scale) + math.log(4 * math.pi)

    @cache.cached_property
    def mean(self) -> Variable:
        warnings.warn('Mean of the cauchy distribution is undefined.', RuntimeWarning)
        return as_variable(full_like(self.loc, math.nan))

    @cache.cached_property
    def variance(self) -> Variable:
        warnings.warn('Variance of the cauchy distribution is undefined.', RuntimeWarning)
        return as_variable(full_like(self.loc, math.nan))
