"""Normalization of the rows of a matrix, with scale and shift per channel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.functions.normalization import _moments
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray


class RowNormalization(Operation):
    """Base of functions with statistics of rows within a sample.

    Inputs are ``x``, ``gamma`` and, if :attr:`centered`, ``beta``. Rows run along the last axis
    unless subclasses redefine :meth:`_shape`.

    """

    #: Whether the mean is subtracted; otherwise rows are only divided by their scale.
    centered = True

    def __init__(self, eps: float = 1e-5) -> None:
        self.eps = eps

    def _shape(self, shape):
        """View of an input of ``shape`` as (N, R, K, B).

        There are N samples of R rows. A row has K channels with B positions each. Gamma has an
        element for each of the R * K channels.

        """
        return math.prod(shape[:-1]), 1, shape[-1], 1

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
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
        buffer: Any = None if direct else _moments.scratch(xp, x, dtype)
        for block in _moments.blocks(x):
            part: Any = x[block]
            t = y[block] if direct else buffer[: len(part)]
            if self.centered:
                mean = part.sum(axis=2, dtype=dtype, keepdims=True)
                mean /= m
                xp.subtract(part, mean, out=t)
            else:
                t[:] = part
            inv_std = 1 / xp.sqrt(xp.einsum('nrm,nrm->nr', t, t) / m + eps)
            channels = t.reshape(len(t), *shape[1:])
            if b == 1:
                t *= inv_std[:, :, None]
                channels *= gamma[:, :, None]
            else:
                channels *= (inv_std[:, :, None] * gamma)[..., None]
            if self.centered:
                channels += beta
            if not direct:
                y[block] = _cast(t, y.dtype)
        return (y.reshape(inputs[0].shape),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, gamma = xs
        dtype = _moments.compute_dtype(x, gamma)
        n, r, k, b = shape = self._shape(x.shape)
        count = dtype.type(max(k * b, 1))
        gamma = m.cast(gamma, dtype).reshape(r, k)
        gy = m.cast(gys[0], dtype).reshape(shape)
        t = m.cast(x, dtype).reshape(n, r, k * b)
        if self.centered:
            t = t - m.sum(t, axis=2, keepdims=True) / count
        var = m.einsum('nrm,nrm->nr', t, t) / count
        inv_std = 1 / m.sqrt(var + dtype.type(self.eps))
        # Inner products with the centered input, and sums, of every channel of a sample.
        channels = t.reshape(shape)
        if b == 1:
            dots, sums = (channels * gy)[..., 0], gy[..., 0]
        else:
            dots, sums = m.einsum('nrkb,nrkb->nrk', channels, gy), m.sum(gy, axis=3)
        gx = None
        if 0 in targets:
            # inv_std * (g - mean(g) - x_hat * mean(g * x_hat)) for g = gy * gamma.
            slope = inv_std**3 * m.einsum('nrk,rk->nr', dots, gamma) / count
            gx = gy * (inv_std[:, :, None] * gamma)[..., None]
            gx = gx.reshape(t.shape)
            gx -= t * slope[:, :, None]
            if self.centered:
                gx -= (inv_std * m.einsum('nrk,rk->nr', sums, gamma) / count)[:, :, None]
        ggamma = m.einsum('nr,nrk->rk', inv_std, dots)
        gxs = gx, ggamma, m.sum(sums, axis=0) if self.centered else None
        inputs = self.inputs
        return [m.cast(gxs[i], inputs[i].dtype).reshape(inputs[i].shape) for i in targets]
