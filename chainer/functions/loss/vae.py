"""Losses of variational autoencoders."""
from __future__ import annotations

import math

import chainer
from chainer.functions._base import check_reduce

_REDUCTIONS = ('sum', 'mean', 'no')


def _reduce(loss, reduce):
    if reduce == 'sum':
        return chainer.functions.sum(loss)
    if reduce == 'mean':
        return chainer.functions.mean(loss)
    return loss


def gaussian_kl_divergence(mean, ln_var, reduce='sum'):
    """Kullback-Leibler divergence of diagonal Gaussians from the standard one.

    An element is :math:`\\frac12 (\\mu^2 + \\sigma^2 - \\ln \\sigma^2 - 1)`.

    Args:
        mean (:class:`~chainer.Variable` or array): Means :math:`\\mu`.
        ln_var (:class:`~chainer.Variable` or array): Logarithms of variances :math:`\\sigma^2`.
        reduce (str): ``'sum'``, ``'mean'`` or ``'no'``.

    Returns:
        ~chainer.Variable: Scalar, or elementwise divergences.

    Raises:
        ValueError: If ``reduce`` has no meaning.

    """
    check_reduce(reduce, _REDUCTIONS)
    mean, ln_var = chainer.as_variable(mean), chainer.as_variable(ln_var)
    loss = (mean * mean + chainer.functions.exp(ln_var) - ln_var - 1) * 0.5
    return _reduce(loss, reduce)


def bernoulli_nll(x, y, reduce='sum'):
    """Negative log-likelihood of Bernoulli distributions given by their log odds.

    An element is :math:`\\log(1 + e^y) - x y`.

    Args:
        x (:class:`~chainer.Variable` or array): Observations.
        y (:class:`~chainer.Variable` or array): Log odds, of the same shape.
        reduce (str): ``'sum'``, ``'mean'`` or ``'no'``.

    Returns:
        ~chainer.Variable: Scalar, or elementwise negative log-likelihoods.

    Raises:
        ValueError: If ``reduce`` has no meaning.

    """
    check_reduce(reduce, _REDUCTIONS)
    x, y = chainer.as_variable(x), chainer.as_variable(y)
    return _reduce(chainer.functions.softplus(y) - x * y, reduce)


def gaussian_nll(x, mean, ln_var, reduce='sum'):
    """Negative log-likelihood of Gaussian distributions.

    An element is :math:`\\frac12 (\\ln 2 \\pi + \\ln \\sigma^2 + (x - \\mu)^2 / \\sigma^2)`.

    Args:
        x (:class:`~chainer.Variable` or array): Observations.
        mean (:class:`~chainer.Variable` or array): Means :math:`\\mu`.
        ln_var (:class:`~chainer.Variable` or array): Logarithms of variances :math:`\\sigma^2`.
        reduce (str): ``'sum'``, ``'mean'`` or ``'no'``.

    Returns:
        ~chainer.Variable: Scalar, or elementwise negative log-likelihoods.

    Raises:
        ValueError: If ``reduce`` has no meaning.

    """
    check_reduce(reduce, _REDUCTIONS)
    x, mean, ln_var = [chainer.as_variable(v) for v in (x, mean, ln_var)]
    difference = x - mean
    precision = chainer.functions.exp(-ln_var)
    loss = (ln_var + math.log(2 * math.pi) + difference * difference * precision) * 0.5
    return _reduce(loss, reduce)
