"""Points of regions of interest, between pixels."""

from __future__ import annotations

import math

import numpy


class Samples:
    """Division of a region into bins of points, for interpolation between pixels."""

    outh: int
    outw: int
    sampling_ratio: tuple[int | None, ...]
    _x_shape: tuple[int, ...]

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


def interpolation(low, high, part, exist):
    """First pixel and matrix (points, pixels) of linear interpolation."""
    first = low[0]
    matrix = numpy.zeros((len(low), high[-1] - first + 1))
    points = numpy.arange(len(low))
    matrix[points, low - first] = (1 - part) * exist
    matrix[points, high - first] += part * exist
    return first, matrix
