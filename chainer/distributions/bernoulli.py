from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, distribution, function_node, functions as F, utils
from chainer.distributions._base import Parametric, as_parameters, as_point, draw, full_like
from chainer.distributions.utils import _modified_xlogx
from chainer.utils import cache
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class BernoulliLogProb(function_node.FunctionNode):
    r"""Logarithm :math:`x l - \log(1 + e^l)` of a Bernoulli probability, from the logit.

    Inputs are the logit and the point, of broadcastable shapes. An infinite logit gives zero or
    ``-inf``.

    Args:
        binary_check (bool): Whether points other than 0 and 1 give ``-inf``.

    .. admonition:: Example

        >>> from chainer.distributions.bernoulli import BernoulliLogProb
        >>> y, = BernoulliLogProb().apply((np.zeros(2, np.float32), np.array([0, 1], np.float32)))
        >>> y.array.round(3)  # log 0.5
        array([-0.693, -0.693], dtype=float32)

    """

    def __init__(self, binary_check: bool = False) -> None:
        self.binary_check = binary_check

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        logit, x = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(logit)
        zero = logit.dtype.type(0)  # CuPy mixes with numbers, not with arrays of NumPy
        # log(p) = -softplus(-logit) and log(1 - p) = -softplus(logit). Where the weight is zero
        # they may be infinite.
        tail = xp.log1p(xp.exp(-abs(logit)))
        log_p = xp.where(x == 0, zero, -xp.maximum(-logit, zero) - tail)
        log_q = xp.where(x == 1, zero, -xp.maximum(logit, zero) - tail)
        y = x * log_p + (1 - x) * log_q
        if self.binary_check:
            self._invalid: Any = (x != 0) & (x != 1)
            y = xp.where(self._invalid, y.dtype.type(-numpy.inf), y)
        return (utils.force_array(y, logit.dtype),)

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        gy: Any = grad_outputs[0]  # the only output has a gradient
        logit, x = self.get_retained_inputs()
        if self.binary_check:
            xp = backend.get_array_module(gy.array)
            gy = F.where(self._invalid, xp.zeros_like(gy.array), gy)
        g_logit = F.sum_to(gy * (x - F.sigmoid(logit)), logit.shape)
        g_x = F.sum_to(gy * logit, x.shape)
        return g_logit, g_x


class Bernoulli(Parametric):
    r"""Bernoulli distribution.

    .. math:: P(x; p) = p^x (1 - p)^{1 - x}, \quad x \in \{0, 1\}

    Args:
        p (array or ~chainer.Variable): Probability of one.
        logit (array or ~chainer.Variable): :math:`\log(p / (1 - p))`, instead of ``p``.
        binary_check (bool): Whether points other than 0 and 1 have probability zero. If not,
            the formula applies to them.

    Raises:
        ValueError: Unless exactly one of ``p`` and ``logit`` is given.

    .. admonition:: Example

        >>> import chainer.distributions as D
        >>> d = D.Bernoulli(np.array([0.25, 0.5], np.float32))
        >>> d.prob(np.array([1, 1], np.float32))
        variable([0.25, 0.5 ])
        >>> d.variance.array.round(4), d.sample(4).shape
        (array([0.1875, 0.25  ], dtype=float32), (4, 2))

    """

    _param_names = ('logit',)
    _support = '{0, 1}'

    def __init__(
        self,
        p: VariableLike | float | None = None,
        logit: VariableLike | float | None = None,
        binary_check: bool = False,
    ) -> None:
        if (p is None) == (logit is None):
            raise ValueError('Either `p` or `logit` (not both) must have a value.')
        # The other of the two is computed when asked for.
        if p is not None:
            (self.p,) = as_parameters(p=p)
        else:
            (self.logit,) = as_parameters(logit=logit)
        self.binary_check = binary_check

    @cache.cached_property
    def p(self) -> Variable:
        """Probability of one, computed from ``logit`` if that was given."""
        return F.sigmoid(self.logit)

    @cache.cached_property
    def logit(self) -> Variable:
        r"""Log odds :math:`\log(p) - \log(1 - p)`, infinite for certain events."""
        with numpy.errstate(divide='ignore'):
            return F.log(self.p) - F.log1p(-self.p)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self._parameter.shape

    @property
    def _parameter(self):
        return self.__dict__.get('p', self.__dict__.get('logit'))

    def log_prob(self, x: VariableLike | float) -> Variable:
        logit = self.logit
        return BernoulliLogProb(self.binary_check).apply((logit, as_point(x, logit)))[0]

    def prob(self, x: VariableLike | float) -> Variable:
        x = as_point(x, self.p)
        prob = x * self.p + (1 - x) * (1 - self.p)
        if self.binary_check:
            valid = (x.array == 0) | (x.array == 1)
            prob = F.where(valid, prob, full_like(prob, 0))
        return prob

    def sample_n(self, n: int) -> Variable:
        samples = draw('binomial', (n,) + self.batch_shape, self.p, 1, self.p, dtype=numpy.int64)
        return as_variable(samples)

    @property
    def entropy(self) -> Variable:
        p = self.p
        return -_modified_xlogx(p) - _modified_xlogx(1 - p)

    @cache.cached_property
    def mean(self) -> Variable:
        return self.p

    @cache.cached_property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)

    @cache.cached_property
    def stddev(self) -> Variable:
        return F.sqrt(self.variance)


@distribution.register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(dist1, dist2):
    # The cross entropy is the log probability, which is linear in the point, at the mean.
    cross_entropy = -BernoulliLogProb().apply((dist2.logit, dist1.p))[0]
    return cross_entropy - dist1.entropy
