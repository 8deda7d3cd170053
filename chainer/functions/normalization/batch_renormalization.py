"""Batch renormalization."""
from __future__ import annotations

import warnings

import chainerx
from chainer import backend
from chainer._fallback import Fallback
from chainer.functions.normalization import _moments
from chainer.functions.normalization.batch_normalization import (
    BatchNormalization,
    fixed_batch_normalization,
)


class BatchRenormalizationFunction(BatchNormalization):
    """Batch normalization corrected towards the running statistics.

    Normalized values :math:`\\hat x` become :math:`r \\hat x + d`, where :math:`r` and :math:`d`
    count as constants in the gradient.

    """

    def __init__(self, eps=2e-5, mean=None, var=None, decay=0.9, rmax=1, dmax=0,
                 update_statistics=True):
        super().__init__(eps, mean, var, decay)
        self.rmax = rmax
        self.dmax = dmax
        self.update_statistics = update_statistics
        self.r = self.d = None

    def forward_chainerx(self, inputs):
        x, gamma, beta = inputs
        if not isinstance(self.running_mean, chainerx.ndarray):
            return Fallback
        # With r and d constant, renormalization is another scale and shift.
        axis = self._axes(x.ndim, gamma.ndim)
        dtype = _moments.compute_dtype(x, gamma)
        constant = x.as_grad_stopped().astype(dtype, copy=False)
        mean, var, scale, shift = [a.astype(dtype, copy=False).reshape(-1) for a in (
            constant.mean(axis=axis), constant.var(axis=axis), gamma, beta)]
        affine = [a.astype(gamma.dtype, copy=False).reshape(gamma.shape)
                  for a in self._affine(mean, var, scale, shift)]
        return super().forward_chainerx((x, *affine))

    def _updates_statistics(self):
        return self.update_statistics and super()._updates_statistics()

    def _affine(self, mean, var, gamma, beta):
        if self.r is None:
            xp = backend.get_array_module(mean)
            dtype = mean.dtype
            eps = dtype.type(self.eps)
            running_mean, running_var = [
                (a if xp is chainerx else backend.from_chx(a)).reshape(-1).astype(
                    dtype, copy=False)
                for a in (self.running_mean, self.running_var)]
            std = xp.sqrt(running_var + eps)
            self.r = xp.clip(xp.sqrt(var + eps) / std, dtype.type(1. / self.rmax),
                             dtype.type(self.rmax))
            self.d = xp.clip((mean - running_mean) / std, dtype.type(-self.dmax),
                             dtype.type(self.dmax))
        return gamma * self.r, gamma * self.d + beta

    def _scale(self, gamma):
        return gamma * self.r

    def _affine_gradients(self, gscale, gshift):
        return gscale * self.r + gshift * self.d, gshift


def batch_renormalization(x, gamma, beta, rmax, dmax, eps=2e-5, running_mean=None,
                          running_var=None, decay=0.9, update_statistics=False):
    """Batch renormalization.

    It is batch normalization whose output is corrected towards what the running statistics
    would give, :math:`y = \\gamma (r \\hat x + d) + \\beta` with
    :math:`r = \\mathrm{clip}(\\sigma_B / \\sigma, 1 / r_{max}, r_{max})` and
    :math:`d = \\mathrm{clip}((\\mu_B - \\mu) / \\sigma, -d_{max}, d_{max})`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        gamma (:class:`~chainer.Variable` or array): Scale, with one element for each channel.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape of ``gamma``.
        rmax (float): Bound of the correction of the scale.
        dmax (float): Bound of the correction of the shift.
        eps (float): Added to variances.
        running_mean (array): Moving average of the mean.
        running_var (array): Moving average of the variance.
        decay (float): Decay of the moving averages.
        update_statistics (bool): Whether the moving averages are updated, in place.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If a moving average is missing.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Ioffe, Batch renormalization: towards reducing minibatch dependence in batch-normalized
    models, NeurIPS 2017.

    """
    for name, value in (('running_mean', running_mean), ('running_var', running_var)):
        if value is None:
            raise TypeError(f'{name} is required')
    return BatchRenormalizationFunction(
        eps, running_mean, running_var, decay, rmax, dmax, update_statistics).apply(
            (x, gamma, beta))[0]


def fixed_batch_renormalization(x, gamma, beta, mean, var, eps=2e-5):
    """Batch renormalization with given statistics.

    .. deprecated:: 7.0.0
        With given statistics there is nothing to correct: use
        :func:`~chainer.functions.fixed_batch_normalization`.

    """
    warnings.warn('fixed_batch_renormalization is deprecated: use fixed_batch_normalization',
                  DeprecationWarning, stacklevel=2)
    return fixed_batch_normalization(x, gamma, beta, mean, var, eps)
