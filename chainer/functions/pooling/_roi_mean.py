"""Bases of functions that average over regions of interest."""

from __future__ import annotations

import numpy

import chainerx
from chainer._core.settings.half import is_half
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions._base import kernels
from chainer.functions.pooling._roi import ROIFunction, channels_first, channels_last


class Mean(ROIFunction):
    """Base of functions that average: a matrix for the rows and one for the columns."""

    _kernels = kernels(retain=(1, 2), least_size=16384)

    def _mean_matrix(self, division, out):
        """First pixel and matrix (out, pixels) of a divided axis."""
        raise NotImplementedError

    def _pool(self, x):
        self._regions = [
            [
                self._mean_matrix(division, out)
                for division, out in zip(region, (self.outh, self.outw))
            ]
            for region in self._regions
        ]
        return self._gather(x)

    def _pool_chainerx(self, x):
        dtype = numpy.float32 if is_half(x.dtype) else x.dtype
        ys = []
        # Images are taken out once: the gradient of a part of one is of its size.
        images = {i: x[i] for i in set(self._indices.tolist())}
        for i, region in zip(self._indices.tolist(), self._regions):
            (top, vertical), (left, horizontal) = [
                self._mean_matrix(division, out)
                for division, out in zip(region, (self.outh, self.outw))
            ]
            part = images[i][:, top : top + vertical.shape[1], left : left + horizontal.shape[1]]
            y = chainerx.matmul(sent_like(x, vertical.astype(dtype)), part.astype(dtype))
            ys.append(chainerx.matmul(y, sent_like(x, horizontal.T.astype(dtype))))
        return chainerx.stack(ys).astype(x.dtype)

    def _operands(self, image):
        """Yields the part of the images under a region, and the two matrices."""
        xp = cuda.get_array_module(image)
        channels = image.shape[3]
        rows = image.reshape(*image.shape[:2], -1)
        for i, ((top, vertical), (left, horizontal)) in zip(self._indices.tolist(), self._regions):
            part = rows[
                i,
                top : top + vertical.shape[1],
                left * channels : (left + horizontal.shape[1]) * channels,
            ]
            yield part, xp.asarray(vertical, image.dtype), xp.asarray(horizontal, image.dtype)

    def _gather(self, x):
        xp = cuda.get_array_module(x)
        image = channels_last(x)
        channels = image.shape[3]
        y = xp.empty((len(self._indices), self.outh, self.outw, channels), image.dtype)
        for target, (part, vertical, horizontal) in zip(y, self._operands(image)):
            rows = vertical.dot(part).reshape(self.outh, -1, channels)
            xp.matmul(horizontal, rows, out=target)
        return channels_first(y, x.dtype)

    def _scatter(self, y):
        xp = cuda.get_array_module(y)
        n, c, h, w = self._x_shape
        values = channels_last(y)
        image = xp.zeros((n, h, w, c), values.dtype)
        for value, (part, vertical, horizontal) in zip(values, self._operands(image)):
            rows = xp.matmul(horizontal.T, value)
            part += vertical.T.dot(rows.reshape(self.outh, -1))
        return channels_first(image, y.dtype)
