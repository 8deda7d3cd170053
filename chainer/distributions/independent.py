from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from chainer import distribution, functions as F
from chainer.utils import cache

if TYPE_CHECKING:
    from chainer.distribution import Distribution
    from chainer.types import VariableLike, Xp
    from chainer.variable import Variable


class Independent(distribution.Distribution):
    """Independent distributions of batch elements as one event.

    It moves the last axes of the batch shape of a distribution to its event shape and sums log
    probabilities over them.

    Args:
        distribution (~chainer.Distribution): Distribution of the elements.
        reinterpreted_batch_ndims (int): Number of batch axes to move. By default all but one.

    Raises:
        ValueError: If there are fewer batch axes.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> normal = D.Normal(np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32))
        >>> d = D.Independent(normal)
        >>> d.batch_shape, d.event_shape
        ((2,), (3,))
        >>> x = np.zeros((2, 3), np.float32)
        >>> normal.log_prob(x).shape, d.log_prob(x).shape
        ((2, 3), (2,))

    """

    def __init__(
        self, distribution: Distribution, reinterpreted_batch_ndims: int | None = None
    ) -> None:
        ndim = len(distribution.batch_shape)
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = max(0, ndim - 1)
        elif not 0 <= reinterpreted_batch_ndims <= ndim:
            raise ValueError(
                'reinterpreted_batch_ndims must be at most the number of batch axes of the '
                f'distribution: {reinterpreted_batch_ndims} > {ndim}'
            )
        self._distribution = distribution
        self._ndims = reinterpreted_batch_ndims

    @property
    def distribution(self) -> Distribution:
        """~chainer.Distribution: Distribution of the elements."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """int: Number of batch axes that belong to the event."""
        return self._ndims

    @property
    def batch_shape(self) -> tuple[int, ...]:
        shape = self._distribution.batch_shape
        return shape[: len(shape) - self._ndims]

    @property
    def event_shape(self) -> tuple[int, ...]:
        shape = self._distribution.batch_shape
        return shape[len(shape) - self._ndims :] + self._distribution.event_shape

    @property
    def params(self) -> dict[str, Variable]:
        return self._distribution.params

    @property
    def support(self) -> str:
        return self._distribution.support

    @property
    def xp(self) -> Xp | None:
        return self._distribution.xp

    @property
    def mean(self) -> Variable:
        return self._distribution.mean

    @property
    def mode(self) -> Variable:
        return self._distribution.mode

    @property
    def stddev(self) -> Variable:
        return self._distribution.stddev

    @property
    def variance(self) -> Variable:
        return self._distribution.variance

    @cache.cached_property
    def covariance(self) -> Variable:
        """~chainer.Variable: Covariance matrix of the flattened event, block diagonal."""
        inner = self._distribution.event_shape
        count = math.prod(self._distribution.batch_shape[len(self.batch_shape) :])
        size = math.prod(inner)
        # Blocks: one matrix per element of the batch.
        blocks = self._distribution.covariance
        blocks = F.reshape(blocks, self.batch_shape + (count, 1, size, size))
        eye = numpy.eye(count, dtype=blocks.dtype).reshape(count, count, 1, 1)
        shape = self.batch_shape + (count, count, size, size)
        full = F.broadcast_to(blocks, shape) * F.broadcast_to(blocks.device.send(eye), shape)
        ndim = full.ndim
        full = F.transpose(full, (*range(ndim - 4), ndim - 4, ndim - 2, ndim - 3, ndim - 1))
        return F.reshape(full, self.batch_shape + (count * size, count * size))

    @property
    def entropy(self) -> Variable:
        return self._reduce(F.sum, self._distribution.entropy)

    def _reduce(self, function, x):
        if self._ndims == 0:
            return x
        return function(x, axis=tuple(range(-self._ndims, 0)))

    def sample_n(self, n: int) -> Variable:
        return self._distribution.sample_n(n)

    def log_prob(self, x: VariableLike | float) -> Variable:
        return self._reduce(F.sum, self._distribution.log_prob(x))

    def prob(self, x: VariableLike | float) -> Variable:
        return self._reduce(F.prod, self._distribution.prob(x))

    def cdf(self, x: VariableLike | float) -> Variable:
        return self._reduce(F.prod, self._distribution.cdf(x))

    def log_cdf(self, x: VariableLike | float) -> Variable:
        return self._reduce(F.sum, self._distribution.log_cdf(x))

    def icdf(self, x: VariableLike | float) -> Variable:
        """The cumulative distribution function of several variables has no inverse.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(
            'Cumulative distribution function for multivariate variable is not invertible.'
        )

    def survival_function(self, x: VariableLike | float) -> Variable:
        """Evaluates the probability that all elements of an event exceed those of ``x``.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Points.

        Returns:
            ~chainer.Variable: Probabilities.

        """
        return self._reduce(F.prod, self._distribution.survival_function(x))

    def log_survival_function(self, x: VariableLike | float) -> Variable:
        """Evaluates the logarithm of :meth:`survival_function`.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Points.

        Returns:
            ~chainer.Variable: Logarithms of the probabilities.

        """
        return self._reduce(F.sum, self._distribution.log_survival_function(x))

    def perplexity(self, x: VariableLike | float | None) -> Variable:
        return self._reduce(F.prod, self._distribution.perplexity(x))


@distribution.register_kl(Independent, Independent)
def _kl_independent_independent(dist1, dist2):
    if dist1.reinterpreted_batch_ndims != dist2.reinterpreted_batch_ndims:
        raise NotImplementedError(
            'The distributions have different numbers of reinterpreted batch axes: '
            f'{dist1.reinterpreted_batch_ndims} and {dist2.reinterpreted_batch_ndims}'
        )
    kl = distribution.kl_divergence(dist1.distribution, dist2.distribution)
    return dist1._reduce(F.sum, kl)
