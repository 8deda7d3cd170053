"""Decorrelated batch normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd.array_namespace import Arrays, arrays_like
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.half import is_half
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation, kernels
from chainer.functions.normalization._inverse_sqrt import _inverse_sqrt_gradient, _InverseSqrt
from chainer.utils import argument, type_check
from chainer.variable import as_array
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _to_groups(x, groups):
    """Reshapes (N, C, ...) to (G, C / G, M), for arrays and variables."""
    channels = x.shape[1]
    order = (1, 0, *range(2, x.ndim))
    return x.transpose(order).reshape(groups, channels // groups, x.size // channels)


def _from_groups(y, shape):
    """Inverse of :func:`_to_groups`."""
    y = y.reshape(shape[1], shape[0], *shape[2:])
    return y.transpose((1, 0, *range(2, len(shape))))


def _check_groups(in_types, groups):
    x_type = in_types[0]
    type_check.expect(x_type.dtype.kind == 'f', x_type.ndim >= 2)
    groups = type_check.make_variable(groups, 'groups')
    type_check.expect(x_type.shape[1] % groups == 0, x_type.shape[1] > 0)


class DecorrelatedBatchNormalization(Operation):
    """Whitening of groups of channels with the statistics of the batch.

    Attributes:
        running_mean, running_projection (array or None): Statistics to update.

    """

    # NumPy's factorization is as fast.
    _kernels = NO_KERNELS

    def __init__(
        self,
        groups: int = 16,
        eps: float = 2e-5,
        mean: VariableLike | None = None,
        projection: VariableLike | None = None,
        decay: float = 0.9,
    ) -> None:
        self.groups = groups
        self.eps = eps
        self.running_mean = mean
        self.running_projection = projection
        self.decay = decay

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect_arguments(in_types, ('x',))
        _check_groups(in_types, self.groups)

    def _moments(self, m, x):
        """Mean, centered input and covariance of groups."""
        x = _to_groups(m.cast(x, _wide(x)), self.groups)
        size, count = x.shape[1:]
        mean = m.sum(x, axis=2, keepdims=True) / count
        centered = x - mean
        noise = sent_like(as_array(x), numpy.eye(size, dtype=x.dtype) * x.dtype.type(self.eps))
        return mean, centered, m.matmul(centered, centered, transb=True) / count + noise

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0,))
        (x,) = inputs
        return self._whiten(
            arrays_like(x), x, lambda cov: _InverseSqrt().forward((cov,))[0], backend.from_chx
        )

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        running = self.running_mean, self.running_projection
        if not all([a is None or isinstance(a, chainerx.ndarray) for a in running]):
            return Fallback('running statistics of NumPy')
        return self._whiten(
            Arrays(chainerx),
            inputs[0],
            _internal.inverse_sqrt,
            chainerx.ndarray.as_grad_stopped,
        )

    def _whiten(self, m, x, inverse_sqrt, plain):
        """The output; updates the statistics, of arrays that ``plain`` takes out of graphs."""
        if not x.size:  # which has no statistics
            return (x.copy(),)
        mean, centered, cov = self._moments(m, x)
        projection = inverse_sqrt(cov)
        self._update(plain, mean, projection, centered.shape[2])
        return (_from_groups(projection @ centered, x.shape).astype(x.dtype, copy=False),)

    def _update(self, plain, mean, projection, count):
        """Moves the running statistics, in place."""
        if config.in_recomputing:
            return
        # As in Chainer 7, the projection gets the factor that makes a variance unbiased.
        unbiased = count / max(count - 1.0, 1.0)
        for running, value, factor in (
            (self.running_mean, mean[:, :, 0], 1.0),
            (self.running_projection, projection, unbiased),
        ):
            if running is not None:
                array = plain(running)
                array *= array.dtype.type(self.decay)
                step = value.dtype.type((1 - self.decay) * factor)
                array += (plain(value) * step).astype(array.dtype, copy=False)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (x,) = xs
        if not x.size:
            return gys
        _, centered, cov = self._moments(m, x)
        (projection,) = m.apply(_InverseSqrt(), (cov,))
        gy = _to_groups(m.cast(gys[0], cov.dtype), self.groups)
        gprojection = m.matmul(gy, centered, transb=True)
        gcov = _inverse_sqrt_gradient(m, projection, gprojection)
        count = centered.shape[2]
        gx = m.matmul(projection, gy)
        gx += m.matmul(gcov * (2 / count), centered)
        gx -= m.sum(gx, axis=2, keepdims=True) / count
        return (m.cast(_from_groups(gx, x.shape), x.dtype),)


def _wide(x):
    """Dtype for linear algebra on ``x``."""
    return 'f' if is_half(x.dtype) else x.dtype


class FixedDecorrelatedBatchNormalization(Operation):
    """Whitening of groups of channels with given statistics."""

    _kernels = kernels(retain=(0, 1, 2))

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        type_check.expect_arguments(in_types, ('x', 'mean', 'projection'))
        _check_groups(in_types, self.groups)
        x_type, mean_type, projection_type = in_types
        groups = type_check.make_variable(self.groups, 'groups')
        type_check.expect(
            mean_type.dtype.kind == 'f',
            projection_type.dtype == mean_type.dtype,
            mean_type.ndim == 2,
            projection_type.ndim == 3,
            mean_type.shape[0] == groups,
            mean_type.shape[1] == x_type.shape[1] // groups,
            projection_type.shape[0] == groups,
            projection_type.shape[1] == mean_type.shape[1],
            projection_type.shape[2] == mean_type.shape[1],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1, 2))
        x, mean, projection = inputs
        xp = cuda.get_array_module(x)
        y = xp.matmul(projection, _to_groups(x, self.groups) - mean[:, :, None])
        return (_from_groups(y, x.shape).astype(x.dtype, copy=False),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, mean, projection = inputs
        centered = _to_groups(x, self.groups).astype(mean.dtype, copy=False) - mean[:, :, None]
        y = chainerx.matmul(projection, centered)
        return (_from_groups(y, x.shape).astype(x.dtype, copy=False),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, mean, projection = xs
        dtype = mean.dtype
        gy = _to_groups(m.cast(gys[0], dtype), self.groups)
        gx = m.matmul(projection, gy, transa=True)
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(m.cast(_from_groups(gx, x.shape), x.dtype))
            elif i == 1:
                gxs.append(-m.sum(gx, axis=2))
            else:
                centered = _to_groups(m.cast(x, dtype), self.groups) - mean[:, :, None]
                gxs.append(m.matmul(gy, centered, transb=True))
        return gxs


def decorrelated_batch_normalization(x: VariableLike, **kwargs: Any) -> Variable:
    """Decorrelated batch normalization.

    It divides channels into groups and centers and whitens (ZCA) each group:

    .. math:: y = \\Sigma^{-1/2} (x - \\mu)

    with the mean :math:`\\mu` and the covariance :math:`\\Sigma` (plus :math:`\\epsilon I`) over
    the batch and all positions.

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            :math:`(N, C, ...)`.
        groups (int): Number of groups :math:`G`, a divisor of :math:`C` (default: 16).
        eps (float): Added to variances (default: 2e-5).
        running_mean (array or None): Moving average of the mean, of shape :math:`(G, C/G)`,
            updated in place.
        running_projection (array or None): Moving average of the matrix
            :math:`\\frac{M}{M - 1} \\Sigma^{-1/2}`, where :math:`M` is the number of elements of
            a channel, of shape :math:`(G, C/G, C/G)`, updated in place.
        decay (float): Decay of the moving averages (default: 0.9).

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point, or ``groups`` does
            not divide the number of channels.

    See: Huang et al., Decorrelated batch normalization, CVPR 2018.

    .. seealso:: :class:`~chainer.links.DecorrelatedBatchNormalization`

    .. admonition:: Example

        >>> x = np.array([[0, 0], [1, 1], [2, 0], [3, 3]], np.float32)
        >>> y = F.decorrelated_batch_normalization(x, groups=1, eps=0).array
        >>> abs(y.mean(axis=0)).round(3)
        array([0., 0.], dtype=float32)
        >>> abs(y.T @ y / 4).round(3)
        array([[1., 0.],
               [0., 1.]], dtype=float32)

    """
    groups, eps, running_mean, running_projection, decay = argument.parse_kwargs(
        kwargs,
        ('groups', 16),
        ('eps', 2e-5),
        ('running_mean', None),
        ('running_projection', None),
        ('decay', 0.9),
    )
    return DecorrelatedBatchNormalization(
        groups, eps, running_mean, running_projection, decay
    ).apply((x,))[0]


def fixed_decorrelated_batch_normalization(
    x: VariableLike, mean: VariableLike, projection: VariableLike, groups: int = 16
) -> Variable:
    """Decorrelated batch normalization with given statistics.

    .. math:: y = P (x - \\mu)

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            :math:`(N, C, ...)`.
        mean (:class:`~chainer.Variable` or array): Mean, floating point of shape
            :math:`(G, C/G)`.
        projection (:class:`~chainer.Variable` or array): Matrix :math:`P` applied to centered
            channels, of shape :math:`(G, C/G, C/G)` and of the dtype of ``mean``.
        groups (int): Number of groups :math:`G`, a divisor of :math:`C`.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: :func:`~chainer.functions.decorrelated_batch_normalization`.

    .. admonition:: Example

        >>> x = np.array([[1, 2], [3, 5]], np.float32)
        >>> mean = np.array([[1, 1]], np.float32)
        >>> projection = np.array([[[0, 1], [10, 0]]], np.float32)
        >>> F.fixed_decorrelated_batch_normalization(x, mean, projection, groups=1).array
        array([[ 1.,  0.],
               [ 4., 20.]], dtype=float32)

    """
    return FixedDecorrelatedBatchNormalization(groups).apply((x, mean, projection))[0]
