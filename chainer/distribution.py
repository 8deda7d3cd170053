"""Probability distributions: the base class and divergences between two of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import backend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.types import VariableLike, Xp
    from chainer.variable import Variable


class Distribution:
    """Base class of probability distributions.

    A distribution object holds a batch of distributions of one kind. An event, one sample of
    one of them, has shape :attr:`event_shape`. The batch has shape :attr:`batch_shape`, and
    :meth:`sample` adds axes in front of both. Methods of a point ``x`` accept an array or a
    variable of shape ``(..., *batch_shape, *event_shape)`` and return a variable without the
    event axes, except for :meth:`icdf`.

    Members that a subclass does not define raise :class:`NotImplementedError`, even if others
    determine them: not every distribution that has :meth:`log_prob` has :meth:`prob`.

    .. seealso:: :func:`chainer.kl_divergence`, :func:`chainer.cross_entropy`

    .. admonition:: Example

        >>> class Coin(chainer.Distribution):
        ...     batch_shape = event_shape = ()
        ...     def sample_n(self, n):
        ...         return chainer.Variable(np.random.randint(0, 2, n))
        >>> Coin().sample((2, 3)).shape
        (2, 3)
        >>> Coin().mean
        Traceback (most recent call last):
            ...
        NotImplementedError: Coin.mean is not implemented

    """

    def _not_implemented(self, name):
        return NotImplementedError(f'{type(self).__name__}.{name} is not implemented')

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Tuple of ints: Shape of the batch."""
        raise self._not_implemented('batch_shape')

    @property
    def event_shape(self) -> tuple[int, ...]:
        """Tuple of ints: Shape of an event."""
        raise self._not_implemented('event_shape')

    @property
    def params(self) -> dict[str, Variable]:
        """dict: Parameters, as variables by name."""
        raise self._not_implemented('params')

    @property
    def support(self) -> str:
        """str: Set of possible values."""
        raise self._not_implemented('support')

    @property
    def xp(self) -> Xp | None:
        """Module or None: Array module of the parameters; ``None`` without parameters."""
        params = self.params
        if not params:
            return None
        return backend.get_array_module(*params.values())

    @property
    def mean(self) -> Variable:
        """~chainer.Variable: Mean."""
        raise self._not_implemented('mean')

    @property
    def mode(self) -> Variable:
        """~chainer.Variable: Mode, the most probable event."""
        raise self._not_implemented('mode')

    @property
    def variance(self) -> Variable:
        """~chainer.Variable: Variance."""
        raise self._not_implemented('variance')

    @property
    def stddev(self) -> Variable:
        """~chainer.Variable: Standard deviation, the square root of the variance."""
        raise self._not_implemented('stddev')

    @property
    def covariance(self) -> Variable:
        """~chainer.Variable: Covariance matrix of the elements of an event."""
        raise self._not_implemented('covariance')

    @property
    def entropy(self) -> Variable:
        """~chainer.Variable: Entropy in nats."""
        raise self._not_implemented('entropy')

    def perplexity(self, x: VariableLike | float | None) -> Variable:
        """Evaluates the perplexity.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Perplexity at ``x``.
        """
        raise self._not_implemented('perplexity')

    def log_prob(self, x: VariableLike | float) -> Variable:
        """Evaluates the logarithm of the density or of the probability.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Logarithm at ``x``, ``-inf`` outside of the support.
        """
        raise self._not_implemented('log_prob')

    def prob(self, x: VariableLike | float) -> Variable:
        """Evaluates the density or the probability.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Density at ``x``.
        """
        raise self._not_implemented('prob')

    def cdf(self, x: VariableLike | float) -> Variable:
        """Evaluates the cumulative distribution function.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Probability of an event of at most ``x``.
        """
        raise self._not_implemented('cdf')

    def icdf(self, x: VariableLike | float) -> Variable:
        """Evaluates the inverse of the cumulative distribution function.

        Args:
            x (array or ~chainer.Variable): Probabilities.

        Returns:
            ~chainer.Variable: Points where the cumulative distribution function is ``x``.
        """
        raise self._not_implemented('icdf')

    def log_cdf(self, x: VariableLike | float) -> Variable:
        """Evaluates the logarithm of the cumulative distribution function.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Logarithm at ``x``.
        """
        raise self._not_implemented('log_cdf')

    def survival_function(self, x: VariableLike | float) -> Variable:
        """Evaluates the survival function :math:`1 - cdf(x)`.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Probability of an event above ``x``.
        """
        raise self._not_implemented('survival_function')

    def log_survival_function(self, x: VariableLike | float) -> Variable:
        """Evaluates the logarithm of the survival function.

        Args:
            x (array or ~chainer.Variable): Points.

        Returns:
            ~chainer.Variable: Logarithm at ``x``.
        """
        raise self._not_implemented('log_survival_function')

    def sample(self, sample_shape: int | Sequence[int] = ()) -> Variable:
        """Draws samples.

        The samples are differentiable with respect to the parameters if the distribution allows
        it.

        Args:
            sample_shape (int or tuple of ints): Shape of the samples.

        Returns:
            ~chainer.Variable: Samples of shape ``(*sample_shape, *batch_shape, *event_shape)``.
        """
        drawn: tuple[Any, ...]
        if isinstance(sample_shape, (tuple, list)):
            drawn = tuple(sample_shape)
        else:
            drawn = (sample_shape,)
        shape = drawn + self.batch_shape + self.event_shape
        samples = self.sample_n(math.prod(drawn))
        return samples if samples.shape == shape else samples.reshape(shape)

    def sample_n(self, n: int) -> Variable:
        """Draws ``n`` samples.

        Args:
            n (int): Number of samples.

        Returns:
            ~chainer.Variable: Samples of shape ``(n, *batch_shape, *event_shape)``.
        """
        raise self._not_implemented('sample_n')


_kl_functions: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(Dist1: type, Dist2: type) -> Callable[..., Any]:
    """Makes a decorator that registers a function computing a Kullback-Leibler divergence.

    The function takes two distributions and returns a variable. :func:`kl_divergence` finds it
    by the exact classes of its arguments: a subclass may be another distribution.

    Args:
        Dist1 (type): Class of the first distribution.
        Dist2 (type): Class of the second distribution.

    Returns:
        The decorator.

    .. admonition:: Example

        >>> class Fixed(chainer.Distribution):
        ...     def __init__(self, value):
        ...         self.value = value
        >>> @chainer.register_kl(Fixed, Fixed)
        ... def _kl_fixed(dist1, dist2):
        ...     return chainer.as_variable(np.array(0. if dist1.value == dist2.value else np.inf))
        >>> chainer.kl_divergence(Fixed(1), Fixed(2))
        variable(inf)

    """

    def register(kl):
        _kl_functions[Dist1, Dist2] = kl
        return kl

    return register


def kl_divergence(dist1: Distribution, dist2: Distribution) -> Variable:
    r"""Computes the Kullback-Leibler divergence of two distributions.

    .. math:: D_{KL}(p \| q) = \int p(x) \log \frac{p(x)}{q(x)} dx

    Args:
        dist1 (Distribution): Distribution :math:`p`.
        dist2 (Distribution): Distribution :math:`q`.

    Returns:
        ~chainer.Variable: Divergences, of the shape of the batch.

    Raises:
        KeyError: If none is registered (:func:`register_kl`) for these two classes.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> p = D.Normal(np.float32(0), np.float32(1))
        >>> q = D.Normal(np.float32(1), np.float32(1))
        >>> chainer.kl_divergence(p, q)  # half of the squared distance
        variable(0.5)

    """
    classes = type(dist1), type(dist2)
    if classes not in _kl_functions:
        names = ' and '.join(cls.__name__ for cls in classes)
        raise KeyError(f'no Kullback-Leibler divergence is registered for {names}')
    return _kl_functions[classes](dist1, dist2)


def cross_entropy(dist1: Distribution, dist2: Distribution) -> Variable:
    r"""Computes the cross entropy of two distributions.

    .. math:: H(p, q) = -\int p(x) \log q(x) dx = H(p) + D_{KL}(p \| q)

    Args:
        dist1 (Distribution): Distribution :math:`p`.
        dist2 (Distribution): Distribution :math:`q`.

    Returns:
        ~chainer.Variable: Cross entropies, of the shape of the batch.

    Raises:
        KeyError: If no divergence is registered for these two classes.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> p = D.Bernoulli(np.float32(0.5))
        >>> round(float(chainer.cross_entropy(p, D.Bernoulli(np.float32(0.25))).array), 3)
        0.837

    """
    return dist1.entropy + kl_divergence(dist1, dist2)
