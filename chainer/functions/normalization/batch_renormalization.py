"""Batch renormalization."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import Fallback
from chainer.functions._base import CallableFunction
from chainer.functions.normalization import _moments
from chainer.functions.normalization.batch_normalization import (
    BatchNormalization,
    fixed_batch_normalization,
)

if TYPE_CHECKING:
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class BatchRenormalizationFunction(CallableFunction, BatchNormalization):
    """Batch normalization corrected towards the running statistics.

    Normalized values :math:`\\hat x` become :math:`r \\hat x + d`, where :math:`r` and :math:`d`
    are constants in the gradient.

    """

    # The running statistics, which r and d are made of, are not arrays of ChainerX.
    _kernels = NO_KERNELS

    r: Any
    d: Any

    def __init__(
        self,
        eps: float = 2e-5,
        mean: VariableLike | None = None,
        var: VariableLike | None = None,
        decay: float = 0.9,
        rmax: float = 1,
        dmax: float = 0,
        update_statistics: bool = True,
    ) -> None:
        super().__init__(eps, mean, var, decay)
        self.rmax = rmax
        self.dmax = dmax
        self.update_statistics = update_statistics
        self.r = self.d = None

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, gamma, beta = inputs
        if not isinstance(self.running_mean, chainerx.ndarray):
            return Fallback('running statistics of NumPy')
        # With r and d constant, renormalization is another scale and shift.
        axis = self._axes(x.ndim, gamma.ndim)
        dtype = _moments.compute_dtype(x, gamma)
        constant = x.as_grad_stopped().astype(dtype, copy=False)
        mean, var, scale, shift = [
            a.astype(dtype, copy=False).reshape(-1)
            for a in (constant.mean(axis=axis), constant.var(axis=axis), gamma, beta)
        ]
        affine = [
            a.astype(gamma.dtype, copy=False).reshape(gamma.shape)
            for a in self._affine(mean, var, scale, shift)
        ]
        return super().forward_chainerx((x, *affine))

    def _updates_statistics(self):
        return self.update_statistics and super()._updates_statistics()

    def _affine(self, mean, var, gamma, beta):
        if self.r is None:
            xp = backend.get_array_module(mean)
            dtype = mean.dtype
            eps = dtype.type(self.eps)
            running: list[Any] = [self.running_mean, self.running_var]
            running_mean, running_var = [
                (a if xp is chainerx else backend.from_chx(a)).reshape(-1).astype(dtype, copy=False)
                for a in running
            ]
            std = xp.sqrt(running_var + eps)
            self.r = xp.clip(
                xp.sqrt(var + eps) / std, dtype.type(1.0 / self.rmax), dtype.type(self.rmax)
            )
            self.d = xp.clip(
                (mean - running_mean) / std, dtype.type(-self.dmax), dtype.type(self.dmax)
            )
        return gamma * self.r, gamma * self.d + beta

    def _scale(self, gamma):
        return gamma * self.r

    def _affine_gradients(self, gscale, gshift):
        return gscale * self.r + gshift * self.d, gshift


def batch_renormalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    rmax: float,
    dmax: float,
    eps: float = 2e-5,
    running_mean: NdArray | None = None,
    running_var: NdArray | None = None,
    decay: float = 0.9,
    update_statistics: bool = False,
) -> Variable:
    """Batch renormalization.

    It corrects the output of batch normalization towards the output with the running statistics:

    .. math::
        y &= \\gamma (r \\hat x + d) + \\beta \\\\
        r &= \\mathrm{clip}(\\sigma_B / \\sigma, 1 / r_{max}, r_{max}) \\\\
        d &= \\mathrm{clip}((\\mu_B - \\mu) / \\sigma, -d_{max}, d_{max})

    where :math:`\\hat x` is the input normalized by the statistics :math:`\\mu_B, \\sigma_B` of the
    batch. There is no gradient through :math:`r` and :math:`d`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point with one element
            for each channel.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of
            ``gamma``.
        rmax (float): Bound of the correction of the scale.
        dmax (float): Bound of the correction of the shift.
        eps (float): Added to variances.
        running_mean (array): Moving average :math:`\\mu` of the mean, of the shape of ``gamma``.
        running_var (array): Moving average :math:`\\sigma^2` of the variance, likewise.
        decay (float): Decay of the moving averages.
        update_statistics (bool): Whether to update the moving averages in place.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If a moving average is missing.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Ioffe, Batch renormalization: towards reducing minibatch dependence in batch-normalized
    models, NeurIPS 2017.

    .. admonition:: Example

        >>> x = np.array([[1], [3]], np.float32)
        >>> gamma, beta = np.ones(1, np.float32), np.zeros(1, np.float32)
        >>> F.batch_renormalization(
        ...     x, gamma, beta, rmax=3, dmax=5, eps=0, running_mean=np.zeros(1, np.float32),
        ...     running_var=np.full(1, 4, np.float32)).array  # by running statistics: x / 2
        array([[0.5],
               [1.5]], dtype=float32)

    """
    for name, value in (('running_mean', running_mean), ('running_var', running_var)):
        if value is None:
            raise TypeError(f'{name} is required')
    return BatchRenormalizationFunction(
        eps, running_mean, running_var, decay, rmax, dmax, update_statistics
    ).apply((x, gamma, beta))[0]


def fixed_batch_renormalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    mean: VariableLike,
    var: VariableLike,
    eps: float = 2e-5,
) -> Variable:
    """Batch renormalization with given statistics.

    .. deprecated:: 7.0.0
        Given statistics need no correction: use
        :func:`~chainer.functions.fixed_batch_normalization`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point with one element for
            each channel.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of ``gamma``.
        mean (:class:`~chainer.Variable` or array): Mean, of the shape of ``gamma``.
        var (:class:`~chainer.Variable` or array): Variance, of the shape of ``gamma``.
        eps (float): Added to the variance.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    Warns:
        DeprecationWarning: Always.

    .. admonition:: Example

        >>> import warnings
        >>> x, zero, one = np.array([[2], [6]], np.float32), np.zeros(1), np.ones(1)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter('ignore')
        ...     F.fixed_batch_renormalization(x, one, zero, zero, 4 * one, eps=0).array
        array([[1.],
               [3.]], dtype=float32)

    """
    warnings.warn(
        'fixed_batch_renormalization is deprecated: use fixed_batch_normalization',
        DeprecationWarning,
        stacklevel=2,
    )
    return fixed_batch_normalization(x, gamma, beta, mean, var, eps)
