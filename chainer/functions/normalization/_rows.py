"""Normalization of every row of a matrix, with scale and shift of channels."""
from __future__ import annotations

import chainer
from chainer.backends import cuda
from chainer.functions._fused import FusedFunction
from chainer.functions.normalization import _moments


class RowNormalization(FusedFunction):
    """Base of functions whose statistics are those of rows within one sample.

    Subclasses give :meth:`_shapes`; inputs are ``x``, ``gamma`` and, if :attr:`centered`,
    ``beta``.

    """

    #: Whether the mean is subtracted; otherwise rows are only divided by their scale.
    centered = True

    def __init__(self, eps=1e-5):
        self.eps = eps

    def _shapes(self, shape):
        """Two views of an input of ``shape``, both with samples in front.

        Returns:
            Shape (N, R, M) of N samples with R rows each, and shape (N, C, B) in which the
            elements of gamma belong to the middle axis.

        """
        raise NotImplementedError

    def forward(self, inputs):
        x, gamma = inputs[:2]
        self.retain_inputs((0, 1))
        xp = cuda.get_array_module(x)
        dtype = _moments.compute_dtype(x, gamma)
        rows, channels = self._shapes(x.shape)
        gamma = gamma[:, None]
        xr = x.reshape(rows)
        y = xp.empty(channels, x.dtype)
        self._mean = xp.zeros((*rows[:2], 1), dtype) if self.centered else None
        self._inv_std = xp.empty((*rows[:2], 1), dtype)
        eps, m = dtype.type(self.eps), dtype.type(max(rows[2], 1))
        for block in _moments.blocks(xr):
            t = xr[block].astype(dtype, copy=not self.centered)
            if self.centered:
                mean = t.sum(axis=2, keepdims=True) / m
                self._mean[block] = mean
                t = t - mean
            inv_std = 1 / xp.sqrt(xp.einsum('nrm,nrm->nr', t, t)[:, :, None] / m + eps)
            self._inv_std[block] = inv_std
            t *= inv_std
            t = t.reshape(-1, *channels[1:])
            t *= gamma
            if self.centered:
                t += inputs[2][:, None]
            y[block] = t
        return y.reshape(x.shape),

    def gradients(self, targets, xs, ys, gys):
        x, gamma = xs
        xp = cuda.get_array_module(x)
        rows, channels = self._shapes(x.shape)
        dtype = self._inv_std.dtype
        m = dtype.type(max(rows[2], 1))
        xr, gy = x.reshape(rows), gys[0].reshape(channels)
        gx = xp.empty(rows, x.dtype)
        ggamma = xp.zeros(gamma.shape, dtype)
        for block in _moments.blocks(xr):
            x_hat = xr[block] - self._mean[block] if self.centered else xr[block]
            inv_std = self._inv_std[block]
            x_hat = x_hat * inv_std
            g = gy[block]
            ggamma += _moments.channel_dot(xp, x_hat.reshape(-1, *channels[1:]), g)
            if 0 in targets:
                g = (g * gamma[:, None]).reshape(x_hat.shape).astype(dtype, copy=False)
                x_hat *= xp.einsum('nrm,nrm->nr', x_hat, g)[:, :, None] / m
                if self.centered:
                    x_hat += g.sum(axis=2, keepdims=True) / m
                g -= x_hat
                g *= inv_std
                gx[block] = g
        gxs = [gx.reshape(x.shape), ggamma.astype(gamma.dtype, copy=False)]
        if 2 in targets:
            gxs.append(_moments.channel_sum(gy, dtype).astype(gamma.dtype, copy=False))
        return [gxs[i] for i in targets]

    def compose(self, x, gamma, beta=None):
        F = chainer.functions
        dtype = _moments.compute_dtype(x, gamma)
        rows, channels = self._shapes(x.shape)
        t = F.cast(x, dtype).reshape(rows)
        if self.centered:
            t = t - F.mean(t, axis=2, keepdims=True)
        t = t * F.rsqrt(F.mean(F.square(t), axis=2, keepdims=True) + dtype.type(self.eps))
        y = t.reshape(channels) * F.cast(gamma, dtype)[:, None]
        if self.centered:
            y = y + F.cast(beta, dtype)[:, None]
        return F.cast(y.reshape(x.shape), x.dtype),
