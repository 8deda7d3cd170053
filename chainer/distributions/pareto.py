from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import distribution, functions as F
from chainer.distributions._base import Parameter, Parametric, as_parameters, as_point, draw, within
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class Pareto(Parametric):
    r"""Pareto distribution.

    .. math:: p(x; s, \alpha) = \alpha \frac{s^\alpha}{x^{\alpha + 1}}, \quad x \ge s

    Samples are differentiable with respect to ``scale``.

    Args:
        scale (array or ~chainer.Variable): Positive lower bound :math:`s`.
        alpha (array or ~chainer.Variable): Positive shape parameter :math:`\alpha`.

    Raises:
        ValueError: If the shapes of the parameters cannot be broadcast.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Pareto(scale=np.float32(1), alpha=np.float32(3))
        >>> d.mean, F.exp(d.log_prob(1.)), d.log_prob(0.5)
        (variable(1.5), variable(3.), variable(-inf))

    """

    _param_names = ('scale', 'alpha')
    _support = '[scale, inf]'

    scale: Parameter = Parameter('Lower bound :math:`s`.')
    alpha: Parameter = Parameter('Shape parameter :math:`\\alpha`.')

    def __init__(self, scale: VariableLike | float, alpha: VariableLike | float) -> None:
        self.scale, self.alpha = as_parameters(scale=scale, alpha=alpha)

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.scale)
        scale, alpha = self.scale, self.alpha
        return within(
            x.array >= scale.array,
            lambda x: F.log(alpha) + alpha * F.log(scale) - (alpha + 1) * F.log(x),
            x,
            scale,
        )

    def sample_n(self, n: int) -> Variable:
        eps = draw('pareto', (n,) + self.batch_shape, self.alpha, self.alpha)
        return self.scale * (eps + 1)

    @cache.cached_property
    def entropy(self) -> Variable:
        return F.log(self.scale) - F.log(self.alpha) + 1.0 / self.alpha + 1.0

    @cache.cached_property
    def mean(self) -> Variable:
        return within(
            self.alpha.array > 1,
            lambda alpha: alpha * self.scale / (alpha - 1),
            self.alpha,
            2.0,
            outside=numpy.inf,
        )

    @cache.cached_property
    def variance(self) -> Variable:
        return within(
            self.alpha.array > 2,
            lambda alpha: self.scale**2 * alpha / ((alpha - 1) ** 2 * (alpha - 2)),
            self.alpha,
            3.0,
            outside=numpy.inf,
        )


@distribution.register_kl(Pareto, Pareto)
def _kl_pareto_pareto(dist1, dist2):
    ratio = dist2.alpha / dist1.alpha
    # Infinite where the lower bound of the first is below that of the second.
    return within(
        dist1.scale.array >= dist2.scale.array,
        lambda scale: (
            dist2.alpha * (F.log(scale) - F.log(dist2.scale)) - F.log(ratio) + ratio - 1.0
        ),
        dist1.scale,
        dist2.scale,
        outside=numpy.inf,
    )
