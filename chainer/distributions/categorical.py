from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import distribution, functions as F
from chainer.distributions._base import OverClasses, Parameter, as_parameters, full_like
from chainer.distributions.utils import _modified_xlogx
from chainer.utils import argument, cache
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def _log_p(p):
    with numpy.errstate(divide='ignore'):
        return F.log(p)


def _expected_log_ratio(dist1, dist2):
    """Computes the divergence of two distributions over classes."""
    p, log_q = dist1.p, dist2.log_p
    # Ignore classes with zero probability in the first, even if the second excludes them.
    log_q = F.where(p.array == 0, full_like(log_q, 0), log_q)
    return F.sum(_modified_xlogx(p) - p * log_q, axis=-1)


class Categorical(OverClasses):
    """Categorical(p=None, *, logit=None)

    Categorical distribution over the integers from zero on.

    .. math:: P(x = i; p) = p_i

    Args:
        p (array or ~chainer.Variable): Probabilities, along the last axis.
        logit (array or ~chainer.Variable): Logarithms of the probabilities up to a constant,
            instead of ``p``.

    Raises:
        ValueError: Unless exactly one of ``p`` and ``logit`` is given.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Categorical(np.array([0.25, 0.75], np.float32))
        >>> F.exp(d.log_prob(np.array([0, 1, 1]))).array.round(3)
        array([0.25, 0.75, 0.75], dtype=float32)
        >>> d.sample(3).dtype.name, d.batch_shape, d.event_shape
        ('int64', (), ())

    """

    p: Parameter = Parameter('Probabilities.')

    def __init__(self, p: VariableLike | float | None = None, **kwargs: Any) -> None:
        (logit,) = argument.parse_kwargs(kwargs, ('logit', None))
        if (p is None) == (logit is None):
            raise ValueError('Either `p` or `logit` (not both) must have a value.')
        if p is not None:
            (self.p,) = as_parameters(p=p)
        else:
            (logit,) = as_parameters(logit=logit)
            self.log_p = F.log_softmax(logit, axis=-1)
            self.p = F.softmax(logit, axis=-1)

    @cache.cached_property
    def log_p(self) -> Variable:
        """Logarithms of the probabilities."""
        return _log_p(self.p)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return ()

    def log_prob(self, x: VariableLike | float) -> Variable:
        points: Any = x.array if isinstance(x, Variable) else x
        if not hasattr(points, 'dtype'):
            points = self.p.device.send(numpy.asarray(points))
        log_p = self.log_p
        classes = log_p.shape[-1]
        # Points have leading sample axes: repeat the batch for each.
        shape = numpy.broadcast_shapes(points.shape, self.batch_shape)
        log_p = F.reshape(F.broadcast_to(log_p, shape + (classes,)), (-1, classes))
        points = F.flatten(F.broadcast_to(points.astype(numpy.int32), shape)).array
        return F.reshape(F.select_item(log_p, points), shape)

    def sample_n(self, n: int) -> Variable:
        indices = self._sample_indices(n)
        return as_variable(self.p.device.send(indices))

    @cache.cached_property
    def entropy(self) -> Variable:
        return -F.sum(_modified_xlogx(self.p), axis=-1)


@distribution.register_kl(Categorical, Categorical)
def _kl_categorical_categorical(dist1, dist2):
    return _expected_log_ratio(dist1, dist2)
