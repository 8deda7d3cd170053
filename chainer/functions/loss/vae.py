"""Losses of variational autoencoders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer._core.names.namespace import F
from chainer.functions._arguments import check_reduce
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable

_REDUCTIONS = ('sum', 'mean', 'no')


def _reduce(loss, reduce):
    if reduce == 'sum':
        return F.sum(loss)
    if reduce == 'mean':
        return F.mean(loss)
    return loss


def gaussian_kl_divergence(
    mean: VariableLike, ln_var: VariableLike, reduce: str = 'sum'
) -> Variable:
    """Kullback-Leibler divergence of diagonal Gaussians from the standard one.

    .. math:: \\frac12 (\\mu^2 + \\sigma^2 - \\ln \\sigma^2 - 1)

    Args:
        mean (:class:`~chainer.Variable` or array): Means :math:`\\mu`, floating point of any
            shape.
        ln_var (:class:`~chainer.Variable` or array): Logarithms of variances
            :math:`\\sigma^2`, of the same shape and dtype.
        reduce (str): ``'sum'`` or ``'mean'`` of all elements, or ``'no'`` for each of them.

    Returns:
        ~chainer.Variable: Scalar, or elementwise divergences, of the dtype of the inputs.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Kingma and Welling, Auto-encoding variational Bayes, ICLR 2014.

    .. admonition:: Example

        >>> mean, ln_var = np.array([0, 2], np.float32), np.array([0, 0], np.float32)
        >>> F.gaussian_kl_divergence(mean, ln_var, reduce='no').array
        array([0., 2.], dtype=float32)
        >>> F.gaussian_kl_divergence(mean, ln_var).array
        array(2., dtype=float32)

    """
    check_reduce(reduce, _REDUCTIONS)
    mean, ln_var = as_variable(mean), as_variable(ln_var)
    loss = (mean * mean + F.exp(ln_var) - ln_var - 1) * 0.5
    return _reduce(loss, reduce)


def bernoulli_nll(x: VariableLike, y: VariableLike, reduce: str = 'sum') -> Variable:
    """Negative log-likelihood of Bernoulli distributions given by their log odds.

    .. math:: -x \\log \\sigma(y) - (1 - x) \\log(1 - \\sigma(y)) = \\log(1 + e^y) - x y

    Args:
        x (:class:`~chainer.Variable` or array): Observations from zero to one, floating
            point of any shape.
        y (:class:`~chainer.Variable` or array): Log odds, of the same shape and dtype.
        reduce (str): ``'sum'`` or ``'mean'`` of all elements, or ``'no'`` for each of them.

    Returns:
        ~chainer.Variable: Scalar, or elementwise negative log-likelihoods, of the dtype of the
        inputs.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :func:`~chainer.functions.sigmoid_cross_entropy`, for integer observations

    .. admonition:: Example

        >>> x, y = np.array([0, 1, 1], np.float32), np.array([0, 0, 3], np.float32)
        >>> F.bernoulli_nll(x, y, reduce='no').array.round(3)
        array([0.693, 0.693, 0.049], dtype=float32)
        >>> print(F.bernoulli_nll(x, y).array.round(3))
        1.435

    """
    check_reduce(reduce, _REDUCTIONS)
    x, y = as_variable(x), as_variable(y)
    return _reduce(F.softplus(y) - x * y, reduce)


def gaussian_nll(
    x: VariableLike, mean: VariableLike, ln_var: VariableLike, reduce: str = 'sum'
) -> Variable:
    """Negative log-likelihood of Gaussian distributions.

    .. math:: \\frac12 \\left(\\ln 2 \\pi + \\ln \\sigma^2 + \\frac{(x - \\mu)^2}{\\sigma^2}\\right)

    Args:
        x (:class:`~chainer.Variable` or array): Observations, floating point of any shape.
        mean (:class:`~chainer.Variable` or array): Means :math:`\\mu`, of the same shape and
            dtype.
        ln_var (:class:`~chainer.Variable` or array): Logarithms of variances
            :math:`\\sigma^2`, likewise.
        reduce (str): ``'sum'`` or ``'mean'`` of all elements, or ``'no'`` for each of them.

    Returns:
        ~chainer.Variable: Scalar, or elementwise negative log-likelihoods, of the dtype of the
        inputs.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x, zeros = np.array([0, 2], np.float32), np.zeros(2, np.float32)
        >>> F.gaussian_nll(x, mean=zeros, ln_var=zeros, reduce='no').array.round(3)
        array([0.919, 2.919], dtype=float32)
        >>> print(F.gaussian_nll(x, mean=zeros, ln_var=zeros).array.round(3))
        3.838

    """
    check_reduce(reduce, _REDUCTIONS)
    x, mean, ln_var = [as_variable(v) for v in (x, mean, ln_var)]
    difference = x - mean
    precision = F.exp(-ln_var)
    exponent = difference * difference * precision * -0.5
    loss = (ln_var + math.log(2 * math.pi)) * 0.5 - exponent
    return _reduce(loss, reduce)
