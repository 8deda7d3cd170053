"""Bases of functions that pick maxima of regions of interest."""

from __future__ import annotations

import functools
import math
import operator

import numpy

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions.pooling._roi import Bins, ROIFunction, channels_first, channels_last


class Maximum(ROIFunction):
    """Base of functions that pick maxima.

    Maxima are single pixels or interpolate four pixels. :meth:`_pool` returns an iterator of
    weights and pixel numbers, each with the shape of the output.
    """

    # ChainerX arrays need the work of NumPy's code, and more.
    _kernels = NO_KERNELS

    def _corners(self):
        """Yields weights (``None``: one) and numbers of pixels within their channels.

        Negative numbers mean no pixel.
        """
        raise NotImplementedError

    def _flat(self, xp, pixels):
        """Positions of pixels in the flattened images."""
        _, c, h, w = self._x_shape
        planes = self._indices[:, None] * c + numpy.arange(c)
        return xp.asarray(planes)[:, :, None, None] * (h * w) + pixels

    def _pool_chainerx(self, x):
        # Which pixels are the maxima does not depend on the graph.
        maxima = self._pool(cuda.to_cpu(x))
        # Bins of points that are all outside of the image have no pixels to tell that.
        bottom = numpy.where(maxima == -numpy.inf, maxima, maxima.dtype.type(0))
        return functools.reduce(
            operator.add,
            self._parts(x, chainerx, lambda a: sent_like(x, cuda.to_cpu(a))),
            sent_like(x, bottom),
        )

    def _gather(self, x):
        xp = cuda.get_array_module(x)
        y = xp.zeros((len(self._indices), x.shape[1], self.outh, self.outw), x.dtype)
        for part in self._parts(x, xp, lambda a: a):
            y += part
        return y

    def _parts(self, x, xp, send):
        """Yields the weighted pixels of each corner; ``send`` moves indexes to the device."""
        for weight, pixels in self._corners():
            # Values of no pixel do not count, whatever they are.
            values = x.reshape(-1)[send(self._flat(cuda.get_array_module(pixels), pixels.clip(0)))]
            if weight is not None:
                values = values * send(weight)
            yield xp.where(send(pixels < 0), 0, values).astype(x.dtype, copy=False)

    def _scatter(self, y):
        xp = cuda.get_array_module(y)
        size = math.prod(self._x_shape)
        x = xp.zeros(size)
        for weight, pixels in self._corners():
            values = xp.where(pixels < 0, y.dtype.type(0), y)
            if weight is not None:
                values = values * weight
            places = self._flat(xp, xp.maximum(pixels, 0))
            x += xp.bincount(places.ravel(), values.ravel(), minlength=size)
        return x.reshape(self._x_shape).astype(y.dtype)


def first_maxima(candidates, n):
    """Elementwise maxima of ``n`` arrays, and the numbers of the first arrays with them."""
    dtype = numpy.min_scalar_type(max(n - 1, 0))
    best = number = None
    for i, values in enumerate(candidates):
        xp = cuda.get_array_module(values)
        if best is None:
            best, number = values.copy(), xp.zeros(values.shape, dtype)
        else:
            # Numbers ascend, so that the latest to win is the largest: NumPy computes that many
            # times faster than it copies under a mask.
            xp.maximum(number, (values > best) * dtype.type(i), out=number)
            xp.maximum(best, values, out=best)
    return best, number


def _argmax_of_bins(x, starts, stops, axis):
    """Maxima of bins along an axis of a (h, w, c) image, and their first positions."""
    n_steps = max(int((stops - starts).max()), 1)

    def pixels():
        for i in range(n_steps):
            # Bins that are shorter repeat their last pixel, empty ones some pixel.
            places = numpy.maximum(numpy.minimum(starts + i, stops - 1), 0)
            yield x.take(xp.asarray(places), axis=axis)

    xp = cuda.get_array_module(x)
    best, step = first_maxima(pixels(), n_steps)
    shape = [1, 1, 1]
    shape[axis] = -1
    first, last = [xp.asarray(a.reshape(shape)) for a in (starts, numpy.maximum(stops - 1, 0))]
    return best, xp.maximum(xp.minimum(step + first, last), 0)


class MaximumOfBins(Bins, Maximum):
    """Base of functions that pick the maxima of bins; empty bins give zero."""

    def _pool(self, x):
        xp = cuda.get_array_module(x)
        image = channels_last(x)
        width = self._x_shape[3]
        shape = len(self._indices), self.outh, self.outw, x.shape[1]
        y, pixels = xp.empty(shape, image.dtype), xp.empty(shape, int)
        for r, (i, (rows, columns)) in enumerate(zip(self._indices.tolist(), self._regions)):
            top, left = rows[0].min(), columns[0].min()
            part = image[
                i, top : max(rows[1].max(), top + 1), left : max(columns[1].max(), left + 1)
            ]
            if part.size == 0:
                y[r], pixels[r] = 0, -1
                continue
            # Columns come first: among equal maxima, the first one in row-major order counts.
            best, column = _argmax_of_bins(part, columns[0] - left, columns[1] - left, 1)
            y[r], row = _argmax_of_bins(best, rows[0] - top, rows[1] - top, 0)
            column = xp.take_along_axis(column, row, axis=0)
            pixels[r] = (row + top) * width + (column + left)
            empty = xp.asarray((rows[0] >= rows[1])[:, None] | (columns[0] >= columns[1]))
            y[r][empty], pixels[r][empty] = 0, -1
        self._pixels = channels_first(pixels, pixels.dtype)
        return channels_first(y, x.dtype)

    def _corners(self):
        yield None, self._pixels
