"""Images: files of them, changes of their sizes, and samples at the points of a grid."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import HOST, operator
from .arrays import part

_ROUND: dict[str, Callable[[Any], Any]] = {
    'round_prefer_floor': lambda x: np.ceil(x - 0.5),
    'round_prefer_ceil': lambda x: np.floor(x + 0.5),
    'floor': np.floor,
    'ceil': np.ceil,
}


@dataclasses.dataclass
class _Resampling:
    """Values along an axis at places between elements."""

    mode: str
    nearest_mode: str = 'floor'
    antialias: int = 0
    cubic_coeff_a: float = -0.75
    exclude_outside: int = 0

    def __call__(self, x, axis, places, scale):
        length = x.shape[axis]
        if self.mode == 'nearest':
            nearest = np.clip(_ROUND[self.nearest_mode](places), 0, length - 1).astype(np.int64)
            return part(x, axis, v.like(x, nearest))
        stretch = max(1.0, 1 / scale) if self.antialias else 1.0
        weights = v.like(x, self._weights(places, length, stretch).astype(x.dtype))
        return F.moveaxis(F.tensordot(x, weights, axes=((axis,), (1,))), -1, axis)

    def _weights(self, places, length, stretch):
        """A matrix that interpolates a row of ``length`` elements at places."""
        reach = math.ceil((1 if self.mode == 'linear' else 2) * stretch)
        neighbors = np.floor(places)[:, None] + np.arange(1 - reach, reach + 1)
        each = self._kernel(np.abs(neighbors - places[:, None]) / stretch)
        if self.exclude_outside:
            each = np.where((neighbors >= 0) & (neighbors < length), each, 0)
        if self.exclude_outside or stretch > 1:
            each = each / each.sum(axis=1, keepdims=True)
        matrix = np.zeros((len(places), length))
        columns = np.clip(neighbors, 0, length - 1).astype(np.int64)
        np.add.at(matrix, (np.arange(len(places))[:, None], columns), each)
        return matrix

    def _kernel(self, d):
        if self.mode == 'linear':
            return np.maximum(1 - d, 0)
        near, far = _cubic(d, self.cubic_coeff_a)
        return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _cubic(d, a):
    """The cubic kernel with the parameter ``a`` at distances up to 1, and from 1 to 2."""
    return ((a + 2) * d - (a + 3)) * d * d + 1, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a


def _sizes_of(lengths, scales):
    """The scales as numbers, and the sizes that they give."""
    scales = [float(s) for s in scales]
    if not all(s > 0 for s in scales):
        raise ValueError(f'the scales {scales} are not all positive')
    return scales, [math.floor(n * s) for n, s in zip(lengths, scales)]


@operator('Upsample', host=(1,))
def upsample(x, scales, *, mode, height_scale, width_scale):
    scales = (1.0, 1.0, height_scale, width_scale) if scales is None else scales
    scales, sizes = _sizes_of(x.shape, scales)
    resample = _Resampling('linear' if 'linear' in mode else mode)
    for axis, (size, scale) in enumerate(zip(sizes, scales)):
        x = resample(x, axis, np.arange(size) / scale, scale)
    return x


@operator('Resize', host=(1, 2, 3))
def resize(
    node, x, roi, scales, sizes, *, axes, coordinate_transformation_mode, extrapolation_value,
    keep_aspect_ratio_policy, **attributes,
):  # fmt: skip
    resample = _Resampling(**attributes)
    if node.opset < 11:  # its second input are the scales
        scales, resample.nearest_mode = roi, 'floor'
        coordinate_transformation_mode = 'asymmetric'
    axes = v.axes_of(axes, x.ndim) or tuple(range(x.ndim))
    lengths = [x.shape[a] for a in axes]
    if scales is not None and scales.size:
        scales, sizes = _sizes_of(lengths, scales)
    else:
        scales, sizes = _scales_of(lengths, v.ints(sizes), keep_aspect_ratio_policy)
    if len(sizes) != len(axes):
        raise ValueError(f'{len(sizes)} sizes for {len(axes)} axes')
    given = dict(zip(axes, sizes))
    v.checked_size([given.get(i, n) for i, n in enumerate(x.shape)], x.dtype.itemsize)
    crop = coordinate_transformation_mode == 'tf_crop_and_resize'
    dtype = x.dtype
    if resample.mode != 'nearest' and not v.is_float(x):
        x = v.cast(x, np.float64)
    outside = np.zeros((1,) * x.ndim, bool)
    for i, (axis, size, scale, length) in enumerate(zip(axes, sizes, scales, lengths)):
        box = (float(roi[i]), float(roi[i + len(axes)])) if crop else None
        places = _places(coordinate_transformation_mode, size, scale, length, box)
        if crop:
            beyond = (places < 0) | (places > length - 1)
            outside = outside | v.along_axis(beyond, axis, x.ndim)
        elif size == length and np.array_equal(places, np.arange(size)):
            continue
        x = resample(x, axis, places, scale)
    if outside.any():
        x = F.where(v.like(x, outside), extrapolation_value, x)
    return v.cast(x, dtype)


def _scales_of(lengths, sizes, policy):
    """The scales that sizes give, and the sizes, which a policy may change."""
    if any(n < 1 for n in sizes):
        raise ValueError(f'the sizes {sizes} are not all positive')
    scales = [m / n for m, n in zip(sizes, lengths)]
    if policy == 'stretch':
        return scales, sizes
    scale = (min if policy == 'not_larger' else max)(scales)
    return [scale] * len(scales), [math.floor(n * scale + 0.5) for n in lengths]


def _places(mode, size, scale, length, box):
    """Where the elements of the output lie between those of the input."""
    x = np.arange(size, dtype=np.float64)
    exact = scale * length
    if mode == 'asymmetric':
        return x / scale
    if mode == 'align_corners':
        return np.zeros(size) if exact == 1 else x * (length - 1) / (exact - 1)
    if mode == 'tf_half_pixel_for_nn':
        return (x + 0.5) / scale
    if mode == 'tf_crop_and_resize':
        start, end = box
        if size == 1:
            return np.array([0.5 * (start + end) * (length - 1)])
        return start * (length - 1) + x * (end - start) * (length - 1) / (size - 1)
    if mode == 'pytorch_half_pixel' and size == 1:
        return np.array([-0.5])
    half = (x + 0.5) / scale - 0.5
    if mode == 'half_pixel_symmetric':
        return half + length / 2 * (1 - size / exact)
    return half


# -- grids


def _reflect(x, low, high):
    """Coordinates mirrored at both ends, until they lie between."""
    span = high - low
    if span <= 0:
        return x * 0
    # The distance from the nearest multiple of twice the span.
    turns = v.array_function('floor')((v.array_of(x) - low) / (2 * span))
    phase = F.identity(x) - low - turns * (2 * span)
    return low + span - F.absolute(phase - span)


def _sample(x, coordinates, kernel, offsets, place):
    """Sums of neighbors, weighted by a kernel of each coordinate.

    Args:
        x: ``(batch, channels, *spatial)``.
        coordinates: For each spatial axis, variables of the shape ``(batch, *out)``.
        kernel: Weights by the distance.
        offsets: Of the neighbors from the floor of the coordinate.
        place: Brings indices inside; those that it leaves outside count as zero.
    """
    shape = x.shape[2:]
    last = F.moveaxis(x, 1, -1)
    image = v.like(x, v.along_axis(np.arange(x.shape[0]), 0, coordinates[0].ndim))
    axes = [
        _neighbors(coordinate, kernel, offsets, functools.partial(place, axis=axis), shape[axis])
        for axis, coordinate in enumerate(coordinates)
    ]

    def weighted(neighbor):
        weights, places = zip(*neighbor)
        weight = functools.reduce(lambda a, b: a * b, weights)
        return F.get_item(last, (image, *places)) * F.expand_dims(weight, -1)

    terms = map(weighted, itertools.product(*axes))
    return F.moveaxis(functools.reduce(F.add, terms), -1, 1)


def _neighbors(coordinate, kernel, offsets, place, length):
    """Weights and indices of the neighbors along an axis."""
    floor = v.array_function('floor')(coordinate)
    choices = []
    for offset in offsets:
        weight = kernel(F.identity(coordinate) - (floor + offset))
        index = place(v.array_of(floor + offset))
        inside = v.calling_arrays(lambda i: ((i >= 0) & (i < length)).astype(i.dtype), index)
        index = v.calling_arrays(lambda i: i.clip(0, length - 1).astype(np.int64), index)
        choices.append((weight * inside, index))
    return choices


def _hat(distance):
    return F.relu(1 - F.absolute(distance))


def _keys(distance):
    """The cubic kernel whose parameter is -0.75."""
    d = F.absolute(distance)
    near, far = _cubic(d, -0.75)
    return F.where(v.array_of(d) <= 1, near, far)


def sample_linear(x, coordinates):
    """Linear interpolation at coordinates, with zeros outside; see :func:`_sample`."""
    return _sample(x, coordinates, _hat, (0, 1), lambda index, axis: index)


@operator('GridSample')
def grid_sample(x, grid, *, align_corners, mode, padding_mode):
    mode = mode.removeprefix('bi').removeprefix('tri')
    shape = x.shape[2:]
    if grid.shape[-1] != len(shape):
        raise ValueError(f'the grid has {grid.shape[-1]} coordinates for {len(shape)} spatial axes')
    ends = [(0.0, n - 1.0) if align_corners else (-0.5, n - 0.5) for n in shape]

    def inside(place, axis):
        if padding_mode == 'reflection':
            place = _reflect(place, *ends[axis])
        if padding_mode == 'zeros':
            return place
        return F.clip(F.identity(place), 0.0, shape[axis] - 1.0)

    coordinates = []
    for axis, n in enumerate(shape):
        each = F.get_item(grid, (Ellipsis, len(shape) - 1 - axis)) + 1
        each = each * ((n - 1) / 2) if align_corners else (each * n - 1) / 2
        if mode == 'nearest':
            each = v.array_function('rint')(each)
        coordinates.append(each if mode == 'cubic' else inside(each, axis))
    return _sample(x, coordinates, *_KERNELS[mode], lambda i, axis: v.array_of(inside(i, axis)))


# With the neighbors that they weight.
_KERNELS = {
    'nearest': (lambda d: d * 0 + 1, (0,)),
    'linear': (_hat, (0, 1)),
    'cubic': (_keys, (-1, 0, 1, 2)),
}


@operator('ImageDecoder', takes=HOST)
def image_decoder(stream, *, pixel_format):
    from PIL import Image

    with Image.open(io.BytesIO(stream.tobytes())) as image:
        pixels = np.array(image.convert('L' if pixel_format == 'Grayscale' else 'RGB'))
    if pixel_format == 'Grayscale':
        return pixels[:, :, None]
    return pixels[:, :, ::-1].copy() if pixel_format == 'BGR' else pixels
