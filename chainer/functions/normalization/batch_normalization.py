"""Batch normalization."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer._core.autograd.array_namespace import arrays_like
from chainer._core.engines.kernels import views
from chainer._core.names.namespace import F
from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._base import kernels
from chainer.functions.normalization import _moments
from chainer.functions.normalization._fixed_batch_normalization import (
    FixedBatchNormalization as FixedBatchNormalization,
    fixed_batch_normalization as fixed_batch_normalization,
)
from chainer.functions.normalization._normalization import Normalization, flat
from chainer.utils import _old_arguments, argument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike
    from chainer.variable import Variable


class _BatchNormalizationImpl:
    """Source of the statistics of a batch."""

    #: Number of batches of equal size that make up the whole batch.
    workers = 1

    def total(self, partial: NdArray) -> NdArray:
        """Sum of ``partial``, an array of shape (C,), over the batches of all workers."""
        raise NotImplementedError


class GeneralBatchNormalizationImpl(_BatchNormalizationImpl):
    """Statistics of the current batch."""

    def total(self, partial: NdArray) -> NdArray:
        return partial


_general = GeneralBatchNormalizationImpl()


def _impl_selector(batch_norm_func, inputs):
    return _general


class BatchNormalization(Normalization):
    """Normalization by the statistics of the batch.

    Attributes:
        running_mean, running_var (array or None): Statistics to update.

    """

    axis: tuple[int, ...] | None

    _kernels = kernels(retain=(0, 1), check=True)

    def __init__(
        self,
        eps: float = 2e-5,
        mean: VariableLike | None = None,
        var: VariableLike | None = None,
        decay: float = 0.9,
        axis: Axis = None,
        impl_selector: Callable[..., Any] = _impl_selector,
    ) -> None:
        super().__init__(eps, axis)
        if (mean is None) is not (var is None):
            raise ValueError('the running mean and the running variance must be given together')
        self.running_mean = mean
        self.running_var = var
        self.decay = decay
        self._impl_selector = impl_selector
        self._impl = _general

    # -- how the normalized values are scaled; renormalization overrides these ---------------

    def _affine(self, mean, var, gamma, beta):
        """Scale and shift of normalized values."""
        return gamma, beta

    def _updates_statistics(self):
        return self.running_mean is not None and not config.in_recomputing

    # -- statistics of the batch, for users --------------------------------------------------

    @property
    def mean(self) -> Any:
        """Mean of the batch, of the shape of gamma; ``None`` without a graph."""
        return self._statistic(1)

    @property
    def inv_std(self) -> Any:
        """Inverse of the standard deviation, of the shape of gamma; ``None`` without a graph."""
        return self._statistic(2)

    def _statistic(self, index):
        if self.inputs is None:
            return None
        x, gamma = self._retained_arrays()[0]
        if x is None:
            return None
        return self._statistics(arrays_like(x), x, gamma)[index].reshape(gamma.shape)

    # -----------------------------------------------------------------------------------------

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, gamma, beta = inputs
        running: Any = None, None
        if self._updates_statistics():
            running = self.running_mean, self.running_var
            if not all([isinstance(a, chainerx.ndarray) for a in running]):
                running = views(running, x.device)
            if running is None:
                return Fallback('running statistics without views')
        if self._impl_selector is not _impl_selector:
            return Fallback('statistics of several workers')
        axis = self.axis = self._axes(x.ndim, gamma.ndim)
        if x.ndim > max(axis):
            self._warn_of_single_elements(x.shape, axis)
        mean, var = running
        return (chainerx.batch_norm(x, gamma, beta, mean, var, self.eps, self.decay, axis),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, gamma, beta = inputs
        self.retain_inputs((0, 1))
        self._impl = self._impl_selector(self, inputs)
        xp = cuda.get_array_module(x)
        self.axis = self._axes(x.ndim, gamma.ndim)
        layout = self._layout_of(x, gamma)
        x3 = layout.view(x)
        if self._impl.workers == 1:
            self._warn_of_single_elements(x.shape, self.axis)
        dtype = _moments.compute_dtype(x, gamma)
        mean, var = self._batch_statistics(xp, x3, dtype)
        std = var + dtype.type(self.eps)
        inv_std = dtype.type(1) / xp.sqrt(std, out=std)
        scale, shift = self._affine(mean, var, flat(gamma), flat(beta))
        y = self._normalize(xp, x3, mean, inv_std * scale, shift, x.dtype)
        if self._updates_statistics() and x.size:
            m = self._count(x3)
            self._update(self.running_mean, mean.reshape(gamma.shape), 1.0)
            self._update(self.running_var, var.reshape(gamma.shape), m / max(m - 1.0, 1.0))
        return (layout.restore(y),)

    def _warn_of_single_elements(self, shape, axis):
        if all([shape[a] == 1 for a in axis]):
            warnings.warn(
                'Batch normalization got a batch with one element for each channel: the output '
                'does not depend on it. This happens with a batch of one sample, for example '
                'the last one of an iterator that does not repeat, or when a model is evaluated '
                'without chainer.using_config("train", False).',
                UserWarning,
                stacklevel=5,
            )

    def _count(self, x3):
        """Number of elements of a channel of all workers, at least one."""
        return max(x3.shape[0] * x3.shape[2] * self._impl.workers, 1)

    def _batch_statistics(self, xp, x, dtype):
        total = self._impl.total
        m = dtype.type(self._count(x))
        mean = total(_moments.channel_sum(x, dtype)) / m
        mean_column = mean[:, None]
        buffer = _moments.scratch(xp, x, dtype)
        squares: Any = None
        for block in _moments.blocks(x):
            part = x[block]
            t = xp.subtract(part, mean_column, out=buffer[: len(part)])
            s = _moments.channel_dot(xp, t, t)
            squares = s if squares is None else squares + s
        return mean, total(squares) / m

    def _update(self, running, value, adjust):
        """Moves a running statistic towards a value, in place."""
        array = backend.from_chx(running)
        array *= array.dtype.type(self.decay)
        array += (value * value.dtype.type((1 - self.decay) * adjust)).astype(
            array.dtype, copy=False
        )

    def _statistics(self, m, x, gamma):
        """Centered input, mean and inverse of the standard deviation, as functions of ``x``."""
        dtype = _moments.compute_dtype(x, gamma)
        x = self._layout_of(x, gamma).view(m.cast(x, dtype))
        total, scale = self._impl.total, dtype.type(1.0 / self._count(x))
        mean = total(m.sum(x, axis=(0, 2))) * scale
        centered = x - mean[:, None]
        var = total(_moments.channel_dot(m, centered, centered)) * scale
        return centered, mean, 1 / m.sqrt(var + dtype.type(self.eps))

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        if m is F and self._impl.workers != 1:
            raise NotImplementedError(
                'double backprop of batch normalization over several workers is not supported'
            )
        x, gamma = xs
        layout = self._layout_of(x, gamma)
        centered, _, inv_std = self._statistics(m, x, gamma)
        gy = layout.view(m.cast(gys[0], centered.dtype))
        gshift, product = self._sums(m, centered, gy)
        gscale = product * inv_std
        ggamma, gbeta = self._affine_gradients(gscale, gshift)
        gx = None
        if 0 in targets:
            total, n = self._impl.total, gy.dtype.type(1.0 / self._count(centered))
            scale = self._scale(m.cast(flat(gamma), gy.dtype)) * inv_std
            gx = gy * scale[:, None]
            gx -= centered * (scale * inv_std * total(gscale) * n)[:, None]
            gx -= (scale * total(gshift) * n)[:, None]
            gx = layout.restore(gx)
        return self._fitted(m, (gx, ggamma, gbeta), targets)

    def _scale(self, gamma):
        return gamma

    def _affine_gradients(self, gscale, gshift):
        """Gradients of gamma and beta, from those of scale and shift."""
        return gscale, gshift


def batch_normalization(
    x: VariableLike, gamma: VariableLike, beta: VariableLike, **kwargs: Any
) -> Variable:
    """Batch normalization.

    It normalizes each channel :math:`c` with its mean and variance over the batch and all
    positions, :math:`y = \\gamma_c (x - \\mu_c) / \\sqrt{\\sigma_c^2 + \\epsilon} + \\beta_c`.
    The sums use at least float32.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype; by default the
            first axis is the batch, and the axes after it are those of ``gamma``.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point with one element
            for each channel.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of ``gamma``.
        eps (float): Added to the variance (default: 2e-5).
        running_mean (array or None): Moving average of the mean, updated in place.
        running_var (array or None): Moving average of the unbiased variance, updated in place.
        decay (float): Decay of the moving averages (default: 0.9).
        axis (None, int or tuple of int): Axes of the statistics, in ascending order; the other
            axes are the channels.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        RuntimeError: If ``axis`` is invalid or not sorted.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    Warns:
        UserWarning: If there is one element for each channel.

    See: Ioffe and Szegedy, Batch normalization: accelerating deep network training by reducing
    internal covariate shift, ICML 2015.

    .. admonition:: Example

        >>> x = np.array([[1, 10], [3, 30]], np.float32)
        >>> gamma, beta = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> chainer.functions.batch_normalization(x, gamma, beta, eps=0).array
        array([[-1., -1.],
               [ 1.,  1.]], dtype=float32)

    """
    eps, running_mean, running_var, decay, axis = argument.parse_kwargs(
        kwargs,
        ('eps', 2e-5),
        ('running_mean', None),
        ('running_var', None),
        ('decay', 0.9),
        ('axis', None),
        train=_old_arguments.TRAIN,
    )
    func = BatchNormalization(eps, running_mean, running_var, decay, axis)
    return func.apply((x, gamma, beta))[0]
