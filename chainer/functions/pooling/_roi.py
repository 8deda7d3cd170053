"""Bases of functions that pool regions of interest.

All of them process rows and columns of a region separately. Internally, images have their channels
last, so that one matrix product or one comparison serves all channels.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy

import chainerx
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.half import is_half
from chainer.backends import cuda
from chainer.functions._arguments import pair
from chainer.functions._base import CallableFunction
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


class ROIFunction(CallableFunction):
    """Function of images, regions ``(y_min, x_min, y_max, x_max)`` and their images' indices.

    Attributes:
        outh, outw (int): Size of the output.
        spatial_scale (float): Factor from region coordinates to image coordinates.

    """

    outh: int
    outw: int
    spatial_scale: float

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        type_check.expect_arguments(in_types, ('x', 'rois', 'roi_indices'))
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
        rois, self._indices = self._parse_regions([cuda.to_cpu(array) for array in rest])
        self._regions = [
            [self._divide_axis(axis, *roi[axis::2]) for axis in range(2)] for roi in rois.tolist()
        ]

    def _parse_regions(self, arrays):
        """Regions in image coordinates, and the indices of their images."""
        rois, roi_indices = arrays
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


def channels_last(x):
    """Images as (n, h, w, c), with float32 instead of float16."""
    dtype = numpy.float32 if is_half(x.dtype) else x.dtype
    return cuda.get_array_module(x).ascontiguousarray(x.transpose(0, 2, 3, 1), dtype)


def channels_first(x, dtype):
    return cuda.get_array_module(x).ascontiguousarray(x.transpose(0, 3, 1, 2), dtype)


class Bins:
    """Division of a region into bins of whole pixels; bins share split pixels."""

    outh: int
    outw: int
    _x_shape: tuple[int, ...]

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
