from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import distribution, functions as F
from chainer.distributions._base import Parametric, as_parameters, as_point, draw, within
from chainer.utils import argument, cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Uniform(Parametric):
    r"""Uniform(*, low=None, high=None, loc=None, scale=None)

    Uniform distribution between two bounds.

    .. math:: p(x; l, h) = \frac{1}{h - l}, \quad l \le x \le h

    Args:
        low (array or ~chainer.Variable): Lower bound :math:`l`.
        high (array or ~chainer.Variable): Upper bound :math:`h`.
        loc (array or ~chainer.Variable): Lower bound :math:`l`.
        scale (array or ~chainer.Variable): Width :math:`h - l`.

    Raises:
        ValueError: Unless either ``low`` and ``high`` or ``loc`` and ``scale`` are given.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Uniform(low=np.float32(1), high=np.float32(3))
        >>> F.exp(d.log_prob(np.array([0, 2], np.float32)))
        variable([0. , 0.5])
        >>> d.mean, d.cdf(2.5)
        (variable(2.), variable(0.75))

    """

    _support = '[low, high]'

    def __init__(self, **kwargs: Any) -> None:
        low, high, loc, scale = argument.parse_kwargs(
            kwargs, ('low', None), ('high', None), ('loc', None), ('scale', None)
        )
        given = tuple(v is not None for v in (low, high, loc, scale))
        # The other two are computed when asked for.
        if given == (True, True, False, False):
            self._param_names = ('low', 'high')
            self.low, self.high = as_parameters(low=low, high=high)
        elif given == (False, False, True, True):
            self._param_names = ('loc', 'scale')
            self.loc, self.scale = as_parameters(loc=loc, scale=scale)
        else:
            raise ValueError('Either `low, high` or `loc, scale` (not both) must have a value.')

    @cache.cached_property
    def low(self) -> Variable:
        """Lower bound, the same as ``loc``."""
        return self.loc

    @cache.cached_property
    def high(self) -> Variable:
        """Upper bound, computed from ``loc`` and ``scale`` if those were given."""
        return self.loc + self.scale

    @cache.cached_property
    def loc(self) -> Variable:
        """Lower bound, the same as ``low``."""
        return self.low

    @cache.cached_property
    def scale(self) -> Variable:
        """Width, computed from ``low`` and ``high`` if those were given."""
        return self.high - self.low

    def cdf(self, x: VariableLike | float) -> Variable:
        return F.clip((as_point(x, self.loc) - self.loc) / self.scale, 0.0, 1.0)

    def icdf(self, x: VariableLike | float) -> Variable:
        return self.loc + self.scale * as_point(x, self.loc)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.loc)
        valid = (x.array >= self.low.array) & (x.array <= self.high.array)
        # The density does not depend on x within the bounds.
        return within(valid, lambda x: F.broadcast_to(-F.log(self.scale), valid.shape), x, self.loc)

    def sample_n(self, n: int) -> Variable:
        return self.loc + self.scale * draw('uniform', (n,) + self.batch_shape, self.loc)

    @cache.cached_property
    def entropy(self) -> Variable:
        return F.log(self.scale)

    @cache.cached_property
    def mean(self) -> Variable:
        return 0.5 * (self.low + self.high)

    @cache.cached_property
    def stddev(self) -> Variable:
        return self.scale / math.sqrt(12)

    @cache.cached_property
    def variance(self) -> Variable:
        return self.scale**2 / 12


@distribution.register_kl(Uniform, Uniform)
def _kl_uniform_uniform(dist1, dist2):
    # Infinite where the first reaches beyond the bounds of the second.
    valid = (dist1.low.array >= dist2.low.array) & (dist1.high.array <= dist2.high.array)
    return within(
        valid,
        lambda scale: F.log(dist2.scale) - F.log(scale),
        dist1.scale,
        dist2.scale,
        outside=numpy.inf,
    )
