"""Decorrelated batch normalization."""

from __future__ import annotations

import chainer
from chainer import backend
from chainer.backends import cuda
from chainer.configuration import config
from chainer.function_node import FunctionNode
from chainer.functions._fused import FusedFunction
from chainer.utils import argument, type_check


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


def _transposed(xp, a):
    return xp.swapaxes(a, -2, -1)


class _Sylvester(FunctionNode):
    """Solution X of R X + X R = C, for symmetric positive definite R and symmetric C."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        r, c = inputs
        xp = cuda.get_array_module(r)
        d, e = xp.linalg.eigh(r)
        et = _transposed(xp, e)
        return (
            xp.matmul(e, xp.matmul(et, xp.matmul(c, e)) / (d[..., :, None] + d[..., None, :])) @ et,
        )

    def backward(self, target_input_indexes, grad_outputs):
        F = chainer.functions
        (r,) = self.get_retained_inputs()
        (x,) = self.get_retained_outputs()
        gc = _sylvester(r, grad_outputs[0])
        gxs = []
        for i in target_input_indexes:
            gxs.append(gc if i else -(F.matmul(gc, x) + F.matmul(x, gc)))
        return tuple(gxs)


def _sylvester(r, c):
    # All relevant matrices are symmetric; incoming gradients may not be.
    c = (c + chainer.functions.swapaxes(c, -2, -1)) * 0.5
    return _Sylvester().apply((r, c))[0]


class _MatrixSqrt(FunctionNode):
    """Square root of a symmetric positive definite matrix."""

    def forward(self, inputs):
        self.retain_outputs((0,))
        (s,) = inputs
        xp = cuda.get_array_module(s)
        d, e = xp.linalg.eigh(s)
        return (xp.matmul(e * xp.sqrt(d)[..., None, :], _transposed(xp, e)),)

    def backward(self, target_input_indexes, grad_outputs):
        return (_sylvester(self.get_retained_outputs()[0], grad_outputs[0]),)


class DecorrelatedBatchNormalization(FusedFunction):
    """Whitening of groups of channels with the statistics of the batch.

    Attributes:
        running_mean, running_projection (array or None): Statistics to update.

    """

    def __init__(self, groups=16, eps=2e-5, mean=None, projection=None, decay=0.9):
        self.groups = groups
        self.eps = eps
        self.running_mean = mean
        self.running_projection = projection
        self.decay = decay

    # ChainerX would run the composition, which has functions without a native path.
    forward_chainerx = FunctionNode.forward_chainerx

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 1)
        type_check._argname(in_types, ('x',))
        _check_groups(in_types, self.groups)

    def forward(self, inputs):
        self.retain_inputs((0,))
        (x,) = inputs
        xp = cuda.get_array_module(x)
        x3 = _to_groups(x, self.groups).astype(_wide(x), copy=False)
        size, m = x3.shape[1:]
        mean = x3.mean(axis=2, keepdims=True)
        centered = x3 - mean
        cov = xp.matmul(centered, _transposed(xp, centered))
        cov /= m
        cov += x3.dtype.type(self.eps) * xp.eye(size, dtype=x3.dtype)
        self._d, self._e = d, e = xp.linalg.eigh(cov)
        projection = xp.matmul(e / xp.sqrt(d)[:, None, :], _transposed(xp, e))
        self._mean, self._projection = mean, projection
        y = xp.matmul(projection, centered)
        if not config.in_recomputing:
            self._update(self.running_mean, mean[:, :, 0])
            self._update(self.running_projection, projection)
        return (_from_groups(y, x.shape).astype(x.dtype, copy=False),)

    def _update(self, running, value):
        if running is not None:
            array = backend.from_chx(running)
            array *= array.dtype.type(self.decay)
            array += (value * value.dtype.type(1 - self.decay)).astype(array.dtype, copy=False)

    def gradients(self, targets, xs, ys, gys):
        (x,) = xs
        xp = cuda.get_array_module(x)
        p, d, e = self._projection, self._d, self._e
        centered = _to_groups(x, self.groups).astype(p.dtype, copy=False) - self._mean
        gy = _to_groups(gys[0], self.groups).astype(p.dtype, copy=False)
        # Gradient of the projection, then of the covariance, in the basis of eigenvectors:
        # d cov^(-1/2) / d cov has the divided differences of d^(-1/2) there.
        gp = xp.matmul(gy, _transposed(xp, centered))
        et = _transposed(xp, e)
        root = xp.sqrt(d)
        ri, rj = root[:, :, None], root[:, None, :]
        gcov = xp.matmul(et, xp.matmul(gp, e)) / (-ri * rj * (ri + rj))
        gcov = xp.matmul(e, xp.matmul(gcov, et))
        gx = xp.matmul(p, gy)
        gx += xp.matmul(
            (gcov + _transposed(xp, gcov)) / p.dtype.type(x.size // x.shape[1]), centered
        )
        gx -= gx.mean(axis=2, keepdims=True)
        return (_from_groups(gx, x.shape).astype(x.dtype, copy=False),)

    def compose(self, x):
        F = chainer.functions
        x3 = _to_groups(F.cast(x, _wide(x)), self.groups)
        size, m = x3.shape[1:]
        centered = x3 - F.mean(x3, axis=2, keepdims=True)
        eye = x.xp.eye(size, dtype=x3.dtype) * x3.dtype.type(self.eps)
        cov = F.matmul(centered, centered, transb=True) * (1.0 / m) + eye
        projection = F.batch_inv(_MatrixSqrt().apply((cov,))[0])
        y = F.matmul(projection, centered)
        return (F.cast(_from_groups(y, x.shape), x.dtype),)


def _wide(x):
    """Dtype for linear algebra on ``x``."""
    return 'f' if x.dtype.char == 'e' else x.dtype


class FixedDecorrelatedBatchNormalization(FusedFunction):
    """Whitening of groups of channels with given statistics."""

    def __init__(self, groups):
        self.groups = groups

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 3)
        type_check._argname(in_types, ('x', 'mean', 'projection'))
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

    def forward(self, inputs):
        self.retain_inputs((0, 1, 2))
        x, mean, projection = inputs
        xp = cuda.get_array_module(x)
        y = xp.matmul(projection, _to_groups(x, self.groups) - mean[:, :, None])
        return (_from_groups(y, x.shape).astype(x.dtype, copy=False),)

    def gradients(self, targets, xs, ys, gys):
        x, mean, projection = xs
        xp = cuda.get_array_module(x)
        gy = _to_groups(gys[0], self.groups)
        centered = _to_groups(x, self.groups) - mean[:, :, None]
        gxs = []
        gx3 = xp.matmul(_transposed(xp, projection), gy)
        for i in targets:
            if i == 0:
                gx = _from_groups(gx3, x.shape)
            elif i == 1:
                gx = -gx3.sum(axis=2)
            else:
                gx = xp.matmul(gy, _transposed(xp, centered))
            gxs.append(gx.astype(xs[i].dtype, copy=False))
        return gxs

    def compose(self, x, mean, projection):
        F = chainer.functions
        centered = F.cast(_to_groups(x, self.groups), mean.dtype) - mean[:, :, None]
        y = F.matmul(projection, centered)
        return (F.cast(_from_groups(y, x.shape), x.dtype),)


def decorrelated_batch_normalization(x, **kwargs):
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
            :math:`\\Sigma^{-1/2}`, of shape :math:`(G, C/G, C/G)`, updated in place.
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


def fixed_decorrelated_batch_normalization(x, mean, projection, groups=16):
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
