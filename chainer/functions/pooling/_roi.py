"""Bases of functions that pool regions of interest.

All of them process rows and columns of a region separately. Internally, images have their channels
last, so that one matrix product or one comparison serves all channels.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from typing import TYPE_CHECKING

import numpy

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.functions._base import CallableFunction, kernels, pair, sent_like
from chainer.functions.pooling._windows import LinearMap
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple


def _check_positive(value, kind, name, what):
    if not (isinstance(value, kind) and value > 0):
        raise TypeError(f'{name} must be {what}: {type(value)}, {value}')


def parse_outsize(outsize):
    """Checks an ``outsize`` argument, a positive int or a pair of them; returns the pair.

    Raises:
        TypeError: If a size is not a positive int.
        ValueError: If there are not two.

    """
    sizes = pair('outsize', outsize)
    for i, size in enumerate(sizes):
        _check_positive(size, numbers.Integral, f'outsize[{i}]', 'positive integer')
    return sizes


def parse_spatial_scale(spatial_scale):
    """Checks a ``spatial_scale`` argument; returns it as a float.

    Raises:
        TypeError: If it is not a positive number.

    """
    _check_positive(spatial_scale, numbers.Real, 'spatial_scale', 'a positive float number')
    return float(spatial_scale)


def parse_sampling_ratio(sampling_ratio):
    """Checks a ``sampling_ratio`` argument, an int, ``None`` or a pair of these.

    Raises:
        TypeError: If it is invalid.

    """
    is_pair = hasattr(sampling_ratio, '__len__')
    pair = tuple(sampling_ratio) if is_pair else (sampling_ratio, sampling_ratio)
    if len(pair) != 2:
        raise TypeError(f'sampling_ratio must be an int, None or a pair: {sampling_ratio}')
    for i, ratio in enumerate(pair):
        if ratio is not None:
            _check_positive(
                ratio, numbers.Integral, f'sampling_ratio[{i}]', 'positive integer or None'
            )
    return pair


class _ROIFunction(CallableFunction):
    """Function of images, regions ``(y_min, x_min, y_max, x_max)`` and their images' indices.

    Attributes:
        outh, outw (int): Size of the output.
        spatial_scale (float): Factor from region coordinates to image coordinates.

    """

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        type_check._argname(in_types, ('x', 'rois', 'roi_indices'))
        x_type, roi_type, index_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim == 4,
            roi_type.dtype == x_type.dtype,
            roi_type.ndim == 2,
            roi_type.shape[1] == 4,
            index_type.dtype.kind == 'i',
            index_type.ndim == 1,
            roi_type.shape[0] == index_type.shape[0],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, *rest = inputs
        self._set_regions(x, rest)
        return (self._pool(x),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, *rest = inputs
        self._set_regions(x, rest)
        if not self._regions:
            return Fallback('no regions')
        return (self._pool_chainerx(x),)

    def _set_regions(self, x, rest):
        self._x_shape = x.shape
        rois, self._indices = self._parse_regions(*map(cuda.to_cpu, rest))
        self._regions = [
            [self._divide_axis(axis, *roi[axis::2]) for axis in range(2)] for roi in rois.tolist()
        ]

    def _parse_regions(self, rois, roi_indices):
        """Regions in image coordinates, and the indices of their images."""
        return rois.astype(numpy.float64) * self.spatial_scale, roi_indices

    def _divide_axis(self, axis, start, stop):
        """Description of a region along an axis, for :meth:`_pool`."""
        raise NotImplementedError

    def _pool(self, x):
        """Output; stores the data that the linear maps of the gradient need."""
        raise NotImplementedError

    def _pool_chainerx(self, x):
        """Output for ChainerX arrays, recorded in their graph."""
        raise NotImplementedError

    def _gather(self, x):
        """Linear map from images to outputs that equals the function near its input."""
        raise NotImplementedError

    def _scatter(self, y):
        """Transpose of :meth:`_gather`."""
        raise NotImplementedError

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gx,) = m.apply(LinearMap(self._scatter, self._gather), gys)
        return [gx if i == 0 else None for i in targets]


def _channels_last(x):
    """Images as (n, h, w, c), with float32 instead of float16."""
    dtype = numpy.float32 if x.dtype == numpy.float16 else x.dtype
    return cuda.get_array_module(x).ascontiguousarray(x.transpose(0, 2, 3, 1), dtype)


def _channels_first(x, dtype):
    return cuda.get_array_module(x).ascontiguousarray(x.transpose(0, 3, 1, 2), dtype)


class Bins:
    """Division of a region into bins of whole pixels; bins share split pixels."""

    def _divide_axis(self, axis, start, stop):
        start = round(start)
        return _bins(
            start,
            max(round(stop) - start, 1),
            (self.outh, self.outw)[axis],
            self._x_shape[axis + 2],
        )


def _bins(start, size, out, limit):
    """Starts and stops of ``out`` bins within ``limit`` pixels."""
    bins = numpy.arange(out)
    starts = numpy.floor(bins * (size / out)).astype(int) + start
    stops = numpy.ceil((bins + 1) * (size / out)).astype(int) + start
    return [numpy.minimum(numpy.maximum(a, 0), limit) for a in (starts, stops)]


class Samples:
    """Division of a region into bins of points, for interpolation between pixels."""

    def _divide_axis(self, axis, start, stop):
        out = (self.outh, self.outw)[axis]
        size = max(stop - start, 1.0)
        n_points = self.sampling_ratio[axis] or math.ceil(size / out)
        return _points(start, size, out * n_points, self._x_shape[axis + 2])


def _points(start, size, n, limit):
    """Pixels before and after ``n`` points, weights of the latter, and a mask of valid points."""
    places = start + (numpy.arange(n) + 0.5) * (size / n)
    exist = (-1 <= places) & (places <= limit)
    places = numpy.minimum(numpy.maximum(places, 0), limit - 1)
    low = numpy.floor(places).astype(int)
    return low, numpy.minimum(low + 1, limit - 1), places - low, exist


def _interpolation(low, high, part, exist):
    """First pixel and matrix (points, pixels) of linear interpolation."""
    first = low[0]
    matrix = numpy.zeros((len(low), high[-1] - first + 1))
    points = numpy.arange(len(low))
    matrix[points, low - first] = (1 - part) * exist
    matrix[points, high - first] += part * exist
    return first, matrix


class Mean(_ROIFunction):
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
        dtype = numpy.float32 if x.dtype == numpy.float16 else x.dtype
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
        image = _channels_last(x)
        channels = image.shape[3]
        y = xp.empty((len(self._indices), self.outh, self.outw, channels), image.dtype)
        for target, (part, vertical, horizontal) in zip(y, self._operands(image)):
            rows = vertical.dot(part).reshape(self.outh, -1, channels)
            xp.matmul(horizontal, rows, out=target)
        return _channels_first(y, x.dtype)

    def _scatter(self, y):
        xp = cuda.get_array_module(y)
        n, c, h, w = self._x_shape
        values = _channels_last(y)
        image = xp.zeros((n, h, w, c), values.dtype)
        for value, (part, vertical, horizontal) in zip(values, self._operands(image)):
            rows = xp.matmul(horizontal.T, value)
            part += vertical.T.dot(rows.reshape(self.outh, -1))
        return _channels_first(image, y.dtype)


class Maximum(_ROIFunction):
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
            values = xp.where(pixels < 0, 0, y)
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
        image = _channels_last(x)
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
            best, column = _argmax_of_bins(part, *[a - left for a in columns], axis=1)
            y[r], row = _argmax_of_bins(best, *[a - top for a in rows], axis=0)
            column = xp.take_along_axis(column, row, axis=0)
            pixels[r] = (row + top) * width + (column + left)
            empty = xp.asarray((rows[0] >= rows[1])[:, None] | (columns[0] >= columns[1]))
            y[r][empty], pixels[r][empty] = 0, -1
        self._pixels = _channels_first(pixels, pixels.dtype)
        return _channels_first(y, x.dtype)

    def _corners(self):
        yield None, self._pixels
