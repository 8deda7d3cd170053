"""Normalization of the rows of a matrix, with scale and shift per channel."""

from __future__ import annotations

import chainer
from chainer.backends import cuda
from chainer.functions._fused import FusedFunction
from chainer.functions.normalization import _moments


def _weighted(xp, a, weights):
    """Sums over k of a[n, r, k] * weights[r, k]."""
    return xp.matmul(a.swapaxes(0, 1), weights[:, :, None])[..., 0].T


class RowNormalization(FusedFunction):
    """Base of functions with statistics of rows within a sample.

    Subclasses define :meth:`_shape`; inputs are ``x``, ``gamma`` and, if :attr:`centered`,
    ``beta``.

    """

    #: Whether to subtract the mean; otherwise only divides rows by their scale.
    centered = True

    def __init__(self, eps=1e-5):
        self.eps = eps

    def _shape(self, shape):
        """View of an input of ``shape`` as (N, R, K, B).

        There are N samples of R rows. A row has K channels with B positions each. Gamma has an
        element for each of the R * K channels.

        """
        raise NotImplementedError

    def forward(self, inputs):
        x, gamma = inputs[:2]
        self.retain_inputs((0, 1))
        xp = cuda.get_array_module(x)
        dtype = _moments.compute_dtype(x, gamma)
        n, r, k, b = shape = self._shape(x.shape)
        gamma = gamma.reshape(r, k)
        beta = inputs[2].reshape(r, k, 1) if self.centered else None
        x = x.reshape(n, r, k * b)
        m, eps = dtype.type(max(k * b, 1)), dtype.type(self.eps)
        y = xp.empty(x.shape, x.dtype)
        direct = x.dtype == dtype
        buffer = None if direct else _moments.scratch(xp, x, dtype)
        self._mean = xp.zeros((n, r, 1), dtype) if self.centered else None
        self._inv_std = xp.empty((n, r), dtype)
        for block in _moments.blocks(x):
            part = x[block]
            t = y[block] if direct else buffer[: len(part)]
            if self.centered:
                mean = part.sum(axis=2, dtype=dtype, keepdims=True)
                mean /= m
                self._mean[block] = mean
                xp.subtract(part, mean, out=t)
            else:
                t[:] = part
            inv_std = 1 / xp.sqrt(xp.einsum('nrm,nrm->nr', t, t) / m + eps)
            self._inv_std[block] = inv_std
            channels = t.reshape(len(t), *shape[1:])
            if b == 1:
                t *= inv_std[:, :, None]
                channels *= gamma[:, :, None]
            else:
                channels *= (inv_std[:, :, None] * gamma)[..., None]
            if self.centered:
                channels += beta
            if not direct:
                y[block] = t
        return (y.reshape(inputs[0].shape),)

    def gradients(self, targets, xs, ys, gys):
        x, gamma = xs
        xp = cuda.get_array_module(x)
        dtype = self._inv_std.dtype
        n, r, k, b = shape = self._shape(x.shape)
        gamma = gamma.reshape(r, k).astype(dtype, copy=False)
        x, gy = x.reshape(n, r, k * b), gys[0].reshape(shape)
        m = dtype.type(max(k * b, 1))
        gx = xp.empty(x.shape, x.dtype)
        ggamma, gbeta = xp.zeros((r, k), dtype), xp.zeros((r, k), dtype)
        direct = x.dtype == dtype
        buffer = _moments.scratch(xp, x, dtype)
        other = None if direct else xp.empty_like(buffer)
        for block in _moments.blocks(x):
            t = buffer[: len(gy[block])]
            if self.centered:
                xp.subtract(x[block], self._mean[block], out=t)
            else:
                t[:] = x[block]
            g = gy[block].astype(dtype, copy=False)
            inv_std = self._inv_std[block]
            # Inner products with the centered input, and sums, of every channel of a sample.
            channels = t.reshape(g.shape)
            if b == 1:
                dots, sums = (channels * g)[..., 0], g[..., 0]
            else:
                dots, sums = xp.einsum('nrkb,nrkb->nrk', channels, g), g.sum(axis=3)
            ggamma += xp.matmul(inv_std.T[:, None], dots.swapaxes(0, 1))[:, 0]
            if self.centered:
                gbeta += sums.sum(axis=0)
            if 0 not in targets:
                continue
            # inv_std * (g - mean(g) - x_hat * mean(g * x_hat)) for g multiplied by gamma.
            u = (gx[block] if direct else other[: len(t)]).reshape(g.shape)
            if b == 1:
                xp.multiply(g, gamma[:, :, None], out=u)
                u *= inv_std[:, :, None, None]
            else:
                xp.multiply(g, (inv_std[:, :, None] * gamma)[..., None], out=u)
            slope = inv_std**3
            slope *= _weighted(xp, dots, gamma)
            slope /= -m
            t *= slope[:, :, None]
            u = u.reshape(t.shape)
            u += t
            if self.centered:
                u -= (inv_std * _weighted(xp, sums, gamma) / m)[:, :, None]
            if not direct:
                gx[block] = u
        gxs = (gx.reshape(xs[0].shape), ggamma, gbeta)
        return [
            gxs[i].reshape(xs[1].shape).astype(xs[1].dtype, copy=False) if i else gxs[i]
            for i in targets
        ]

    def compose(self, x, gamma, beta=None):
        F = chainer.functions
        dtype = _moments.compute_dtype(x, gamma)
        n, r, k, b = shape = self._shape(x.shape)
        t = F.cast(x, dtype).reshape(n, r, k * b)
        if self.centered:
            t = t - F.mean(t, axis=2, keepdims=True)
        t = t * F.rsqrt(F.mean(F.square(t), axis=2, keepdims=True) + dtype.type(self.eps))
        y = t.reshape(shape) * F.cast(gamma, dtype).reshape(r, k, 1)
        if self.centered:
            y = y + F.cast(beta, dtype).reshape(r, k, 1)
        return (F.cast(y.reshape(x.shape), x.dtype),)
