"""Batch normalization."""

from __future__ import annotations

import collections.abc
import numbers
import warnings

import chainer
import chainerx
from chainer import _native_kernels, backend
from chainer._fallback import Fallback
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._fused import FusedFunction
from chainer.functions.normalization import _moments
from chainer.utils import argument, type_check


def _flat(a):
    return a if a.ndim == 1 else a.reshape(-1)


def _parse_axis(axis):
    if axis is None:
        return None
    if isinstance(axis, numbers.Integral):
        return (int(axis),)
    if not (
        isinstance(axis, collections.abc.Sequence)
        and all([isinstance(a, numbers.Integral) for a in axis])
    ):
        raise RuntimeError(f'axis must be int, tuple of int or None, not {axis!r}')
    if any(a >= b for a, b in zip(axis, axis[1:])):
        raise RuntimeError(f'numbers in axis must be sorted in ascending order: {axis}')
    return tuple([int(a) for a in axis])


class _BatchNormalizationImpl:
    """Source of the statistics of a batch."""

    #: Number of equally sized parts of the whole batch.
    workers = 1

    def total(self, partial):
        """Sum of ``partial``, an array of shape (C,), over the batches of all workers."""
        raise NotImplementedError


class GeneralBatchNormalizationImpl(_BatchNormalizationImpl):
    """Statistics of the current batch."""

    def total(self, partial):
        return partial


_NATIVE_INPUTS = (0, 1) if chainerx.is_available() else None
_general = GeneralBatchNormalizationImpl()


def _impl_selector(batch_norm_func, inputs):
    return _general


class _Normalization(FusedFunction):
    """Base of the functions below: axes, type checks and the affine map."""

    statistics = ()
    _checked_natively = True

    def __init__(self, eps=2e-5, axis=None):
        self.eps = eps
        self.axis = _parse_axis(axis)

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 3 + len(self.statistics))
        x_type, gamma_type = in_types[:2]
        type_check._argname(in_types, ('x', 'gamma', 'beta', *self.statistics))
        type_check.expect(
            x_type.dtype.kind == 'f',
            gamma_type.dtype.kind == 'f',
            x_type.ndim >= gamma_type.ndim + 1,
        )
        for t in in_types[2:]:
            type_check.expect(t.dtype.kind == 'f', t.shape == gamma_type.shape)
        type_check.expect(gamma_type.dtype == in_types[2].dtype)
        gamma_ndim = type_check.eval(gamma_type.ndim)
        if self.axis is None:
            type_check.expect(x_type.shape[1 : 1 + gamma_ndim] == gamma_type.shape)
            return
        key_axis = [i for i in range(type_check.eval(x_type.ndim)) if i not in self.axis]
        type_check.expect(gamma_type.ndim == len(key_axis))
        for i, a in enumerate(key_axis):
            type_check.expect(x_type.shape[a] == gamma_type.shape[i])

    def _axes(self, x_ndim, gamma_ndim):
        """Axes of the statistics."""
        return self.axis or (0, *range(gamma_ndim + 1, x_ndim))

    def _start(self, x, gamma):
        self.axis = self._axes(x.ndim, gamma.ndim)
        self._layout = _moments.layout(x.shape, self.axis)
        return self._layout.view(x)

    def _normalize(self, xp, x, mean, scale, shift, out_dtype):
        """(x - mean) * scale + shift."""
        mean, scale, shift = mean[:, None], scale[:, None], shift[:, None]
        y = xp.empty(x.shape, out_dtype)
        direct = out_dtype == scale.dtype
        buffer = None if direct else _moments.scratch(xp, x, scale.dtype)
        for block in _moments.blocks(x):
            part = x[block]
            t = y[block] if direct else buffer[: len(part)]
            xp.subtract(part, mean, out=t)
            t *= scale
            t += shift
            if not direct:
                y[block] = t
        return y

    def _sums(self, xp, x, gy, mean):
        """Sums over channels of gy and of gy * (x - mean)."""
        total = product = None
        mean_column = mean[:, None]
        buffer = _moments.scratch(xp, x, mean.dtype)
        for block in _moments.blocks(x):
            g = gy[block]
            t = xp.subtract(x[block], mean_column, out=buffer[: len(g)])
            s = _moments.channel_sum(g, mean.dtype)
            p = _moments.channel_dot(xp, t, g)
            total, product = (s, p) if total is None else (total + s, product + p)
        return total, product

    def _compose(self, x, mean, scale, shift):
        """The map of :meth:`_normalize` on variables."""
        y = (self._layout.view(x) - mean[:, None]) * scale[:, None] + shift[:, None]
        return self._layout.restore(y)


class BatchNormalization(_Normalization):
    """Normalization with the statistics of the batch.

    Attributes:
        running_mean, running_var (array or None): Statistics to update.
        mean, inv_std (array): Statistics of the batch, after forward.

    """

    def __init__(
        self, eps=2e-5, mean=None, var=None, decay=0.9, axis=None, impl_selector=_impl_selector
    ):
        super().__init__(eps, axis)
        if (mean is None) is not (var is None):
            raise TypeError('the running mean and the running variance must be given together')
        self.running_mean = mean
        self.running_var = var
        self.decay = decay
        self.mean = self.inv_std = None
        self._impl_selector = impl_selector

    # -- scaling of the normalized values; renormalization overrides these -------------------

    def _affine(self, mean, var, gamma, beta):
        """Scale and shift of normalized values."""
        return gamma, beta

    def _updates_statistics(self):
        return self.running_mean is not None and not config.in_recomputing

    # -----------------------------------------------------------------------------------------

    def forward_chainerx(self, inputs):
        x, gamma, beta = inputs
        running = None, None
        if self._updates_statistics():
            running = self.running_mean, self.running_var
            if not all([isinstance(a, chainerx.ndarray) for a in running]):
                running = _native_kernels.views(running, x.device)
            if running is None:
                return Fallback
        if self._impl_selector is not _impl_selector:
            return Fallback
        axis = self.axis = self._axes(x.ndim, gamma.ndim)
        if x.ndim > max(axis):
            self._warn_of_single_elements(x.shape, axis)
        return (chainerx.batch_norm(x, gamma, beta, *running, self.eps, self.decay, axis),)

    def forward(self, inputs):
        x, gamma, beta = inputs
        self.retain_inputs((0, 1))
        self._impl = self._impl_selector(self, inputs)
        xp = cuda.get_array_module(x)
        x3 = self._start(x, gamma)
        if self._impl.workers == 1:
            self._warn_of_single_elements(x.shape, self.axis)
        dtype = _moments.compute_dtype(x, gamma)
        mean, var = self._batch_statistics(xp, x3, dtype)
        std = var + dtype.type(self.eps)
        inv_std = dtype.type(1) / xp.sqrt(std, out=std)
        scale, shift = self._affine(mean, var, _flat(gamma), _flat(beta))
        y = self._normalize(xp, x3, mean, inv_std * scale, shift, x.dtype)
        self.mean, self.inv_std = mean.reshape(gamma.shape), inv_std.reshape(gamma.shape)
        if self._updates_statistics() and x.size:
            m = self._count
            self._update(self.running_mean, self.mean, 1.0)
            self._update(self.running_var, var.reshape(gamma.shape), m / max(m - 1.0, 1.0))
        return (self._layout.restore(y),)

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

    def _batch_statistics(self, xp, x, dtype):
        total = self._impl.total
        self._count = max(self._layout.count * self._impl.workers, 1)
        m = dtype.type(self._count)
        mean = total(_moments.channel_sum(x, dtype)) / m
        mean_column = mean[:, None]
        buffer = _moments.scratch(xp, x, dtype)
        squares = None
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

    def gradients(self, targets, xs, ys, gys):
        x, gamma = xs
        gy = self._layout.view(gys[0])
        xp = cuda.get_array_module(x)
        x3 = self._layout.view(x)
        mean, inv_std = _flat(self.mean), _flat(self.inv_std)
        gshift, product = self._sums(xp, x3, gy, mean)
        gscale = product * inv_std
        gx = None
        if 0 in targets:
            total, m = self._impl.total, mean.dtype.type(1.0 / self._count)
            scale = self._scale(_flat(gamma)) * inv_std
            gx = self._layout.restore(
                self._input_gradient(
                    xp, x3, gy, mean, scale, total(gshift) * m, -scale * inv_std * total(gscale) * m
                )
            )
        ggamma, gbeta = self._affine_gradients(gscale, gshift)
        gxs = (
            gx,
            ggamma.astype(gamma.dtype, copy=False).reshape(gamma.shape),
            gbeta.astype(gamma.dtype, copy=False).reshape(gamma.shape),
        )
        return [gxs[i] for i in targets]

    def _scale(self, gamma):
        return gamma

    def _affine_gradients(self, gscale, gshift):
        """Gradients of gamma and beta, from those of scale and shift."""
        return gscale, gshift

    def _input_gradient(self, xp, x, gy, mean, scale, gy_mean, slope):
        """Scale * (gy - gy_mean) + slope * (x - mean)."""
        offset = (scale * gy_mean + slope * mean)[:, None]
        scale, slope = scale[:, None], slope[:, None]
        gx = xp.empty(x.shape, x.dtype)
        direct = x.dtype == scale.dtype
        buffer = _moments.scratch(xp, x, scale.dtype)
        other = None if direct else xp.empty_like(buffer)
        for block in _moments.blocks(x):
            part = x[block]
            t = xp.multiply(part, slope, out=buffer[: len(part)])
            u = xp.multiply(gy[block], scale, out=gx[block] if direct else other[: len(part)])
            u += t
            u -= offset
            if not direct:
                gx[block] = u
        return gx

    def compose(self, x, gamma, beta):
        if self._impl.workers != 1:
            raise NotImplementedError(
                'double backprop of batch normalization over several workers is not supported'
            )
        F = chainer.functions
        dtype = _moments.compute_dtype(x, gamma)
        y_dtype = x.dtype
        x = F.cast(x, dtype)
        x3 = self._layout.view(x)
        mean = F.mean(x3, axis=(0, 2))
        var = F.mean(F.square(x3 - mean[:, None]), axis=(0, 2))
        scale, shift = self._affine(
            mean.array, var.array, *[F.cast(_flat(a), dtype) for a in (gamma, beta)]
        )
        inv_std = F.rsqrt(var + dtype.type(self.eps))
        return (F.cast(self._compose(x, mean, inv_std * scale, shift), y_dtype),)


def batch_normalization(x, gamma, beta, **kwargs):
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
        train='train argument is not supported anymore. Use chainer.using_config',
    )
    func = BatchNormalization(eps, running_mean, running_var, decay, axis)
    # Kernels do not return mean and inv_std, which this function does not need.
    func._native_inputs = _NATIVE_INPUTS
    return func.apply((x, gamma, beta))[0]


class FixedBatchNormalization(_Normalization):
    """Normalization with given statistics."""

    statistics = ('mean', 'var')
    inv_std = inv_var = None
    _native_inputs = 0, 1, 3, 4

    def forward_chainerx(self, inputs):
        x, gamma = inputs[:2]
        return (chainerx.fixed_batch_norm(*inputs, self.eps, self._axes(x.ndim, gamma.ndim)),)

    def forward(self, inputs):
        self.retain_inputs((0, 1, 3, 4))
        x, gamma, beta, mean, var = inputs
        xp = cuda.get_array_module(x)
        x3 = self._start(x, gamma)
        dtype = _moments.compute_dtype(x, gamma)
        self.inv_var = 1 / (var.astype(dtype, copy=False) + dtype.type(self.eps))
        self.inv_std = xp.sqrt(self.inv_var)
        y = self._normalize(
            xp,
            x3,
            _flat(mean).astype(dtype, copy=False),
            (gamma * self.inv_std).reshape(-1),
            _flat(beta),
            x.dtype,
        )
        return (self._layout.restore(y),)

    def gradients(self, targets, xs, ys, gys):
        x, gamma, mean, var = xs
        gy = gys[0]
        dtype = self.inv_std.dtype
        xp = cuda.get_array_module(x)
        inv_std = _flat(self.inv_std)
        scale = inv_std * _flat(gamma)
        gxs = [None] * 5
        gy3 = self._layout.view(gy)
        if 0 in targets:
            gx = (gy3 * scale[:, None]).astype(x.dtype, copy=False)
            gxs[0] = self._layout.restore(gx)
        if targets != (0,):
            gbeta, product = self._sums(
                xp, self._layout.view(x), gy3, _flat(mean).astype(dtype, copy=False)
            )
            ggamma = product * inv_std
            gvar = ggamma * scale * inv_std * dtype.type(-0.5)
            for i, g in enumerate((ggamma, gbeta, -scale * gbeta, gvar), 1):
                g_dtype = gamma.dtype if i < 3 else xs[i - 1].dtype
                gxs[i] = g.astype(g_dtype, copy=False).reshape(gamma.shape)
        return [gxs[i] for i in targets]

    def compose(self, x, gamma, beta, mean, var):
        F = chainer.functions
        y_dtype, dtype = x.dtype, _moments.compute_dtype(x, gamma)
        gamma, beta, mean, var = [F.cast(_flat(a), dtype) for a in (gamma, beta, mean, var)]
        scale = gamma * F.rsqrt(var + dtype.type(self.eps))
        return (F.cast(self._compose(F.cast(x, dtype), mean, scale, beta), y_dtype),)


def fixed_batch_normalization(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    """Batch normalization with given statistics.

    .. math:: y = \\gamma_c \\frac{x - \\mu_c}{\\sqrt{\\sigma_c^2 + \\epsilon}} + \\beta_c

    It is :func:`~chainer.functions.batch_normalization` for evaluation: mean and variance are
    inputs with gradients.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point with one element
            for each channel.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of
            ``gamma``.
        mean (:class:`~chainer.Variable` or array): Mean, of the shape of ``gamma``.
        var (:class:`~chainer.Variable` or array): Variance, of the shape of ``gamma``.
        eps (float): Added to the variance.
        axis (None, int or tuple of int): Axes other than the channels, in ascending order.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        RuntimeError: If ``axis`` is invalid or not sorted.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([[1, 10], [3, 30]], np.float32)
        >>> gamma, beta = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> mean, var = np.array([1, 0], np.float32), np.array([4, 100], np.float32)
        >>> F.fixed_batch_normalization(x, gamma, beta, mean, var, eps=0).array
        array([[0., 1.],
               [1., 3.]], dtype=float32)

    """
    return FixedBatchNormalization(eps, axis).apply((x, gamma, beta, mean, var))[0]
