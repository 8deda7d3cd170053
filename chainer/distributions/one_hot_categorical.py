from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import backend, distribution, functions as F
from chainer.distributions._base import OverClasses, Parameter, as_parameters, as_point, full_like
from chainer.distributions.categorical import _expected_log_ratio, _log_p
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


class OneHotCategorical(OverClasses):
    """Categorical distribution over one-hot vectors.

    .. math:: P(x = e_i; p) = p_i

    Args:
        p (array or ~chainer.Variable): Probabilities, along the last axis.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.OneHotCategorical(np.array([0.25, 0.75], np.float32))
        >>> round(float(F.exp(d.log_prob(np.array([0, 1], np.float32))).array), 3)
        0.75
        >>> d.sample(3).shape
        (3, 2)

    """

    p: Parameter = Parameter('Probabilities.')

    def __init__(self, p: VariableLike | float) -> None:
        (self.p,) = as_parameters(p=p)

    @cache.cached_property
    def log_p(self) -> Variable:
        """Logarithms of the probabilities."""
        return _log_p(self.p)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.p.shape[-1:]

    def log_prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.p)
        log_p = F.broadcast_to(self.log_p, x.shape)
        return F.sum(x * F.where(x.array == 0, full_like(log_p, 0), log_p), axis=-1)

    def sample_n(self, n: int) -> Variable:
        indices = self._sample_indices(n)
        xp = backend.get_array_module(indices)
        one_hot = (indices[..., None] == xp.arange(self.p.shape[-1])).astype(self.p.dtype)
        return as_variable(self.p.device.send(one_hot))

    @cache.cached_property
    def mean(self) -> Variable:
        return self.p

    @cache.cached_property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)


@distribution.register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot_categorical_one_hot_categorical(dist1, dist2):
    return _expected_log_ratio(dist1, dist2)
