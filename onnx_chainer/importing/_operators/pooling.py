"""Pooling, of windows and of regions of images, and the choice of regions."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import HOST, operator, operators
from .convolutions import Windows, pad_spatial


class PoolWindows(Windows):
    """The windows of a pooling, whose elements are strided slices of the padded input.

    Slices do what the functions of Chainer cannot: padding that differs before and behind,
    dilation, and windows that begin inside and end outside.
    """

    def __init__(self, x, kernel_shape, ceil_mode, **attributes):
        super().__init__(x.shape[2:], kernel_shape, **attributes)
        self.counts, self.needed = [], []
        for n, span, s, (before, behind) in zip(self.shape, self.spans, self.strides, self.pads):
            room = n + before + behind - span
            out = (-(-room // s) if ceil_mode else room // s) + 1
            if ceil_mode and (out - 1) * s >= n + before:
                out -= 1  # a window has to begin before the padding behind
            if out < 1:
                raise ValueError(f'windows {self.kernel} are larger than the input {self.shape}')
            self.counts.append(out)
            # What the last window needs, which may be less or more than the padding that is given.
            self.needed.append((before, (out - 1) * s + span - n - before))

    @property
    def symmetric_pads(self):
        """The padding as Chainer's functions take it, or ``None``."""
        axes = zip(self.needed, self.kernel, self.strides, self.dilations)
        for (before, behind), k, s, d in axes:
            if d != 1 or behind > before or before >= k or before - behind >= s:
                return None
        return tuple(before for before, _ in self.needed)

    def parts(self, x, value):
        """Yields, for each offset in the window, the elements there of all windows.

        ``x`` is padded by a value.
        """
        x = pad_spatial(x, self.needed, value)
        for offset in itertools.product(*map(range, self.kernel)):
            index = [slice(None), slice(None)]
            for o, d, s, out in zip(offset, self.dilations, self.strides, self.counts):
                index.append(slice(o * d, o * d + (out - 1) * s + 1, s))
            yield F.get_item(x, tuple(index))

    def combine(self, function, x, value):
        """Combines the elements of each window by a function of two arrays."""
        return functools.reduce(function, self.parts(x, value))

    def sizes(self, x, include_pad):
        """How many elements each window has; padding that rounding up adds counts in no case."""
        sizes = np.ones((), x.dtype)
        axes = zip(self.shape, self.kernel, self.strides, self.dilations, self.counts, self.pads)
        for n, k, s, d, out, (before, behind) in axes:
            places = np.arange(out)[:, None] * s + np.arange(k) * d - before
            low, high = (-before, n + behind) if include_pad else (0, n)
            inside = (low <= places) & (places < high)
            sizes = sizes[..., None] * inside.sum(axis=1, dtype=x.dtype)
        return v.like(x, np.maximum(sizes, 1))


@operator('MaxPool')
def max_pool(node, x, *, storage_order, **attributes):
    windows = PoolWindows(x, **attributes)
    pad = windows.symmetric_pads
    if v.is_float(x) and pad is not None and not node.wants(1):
        return F.max_pooling_nd(x, windows.kernel, windows.strides, pad, cover_all=False)
    floats = x if v.is_float(x) else v.on_host(x).astype('d')
    y = windows.combine(F.maximum, floats, -math.inf)
    if not v.is_float(x):
        y = v.like(x, y.array.astype(x.dtype))
    if not node.wants(1):
        return y
    return y, v.like(x, _argmax(v.on_host(floats), windows, storage_order))


def _argmax(x, windows, storage_order):
    """The places of the largest elements in the input without padding, counted over all axes."""
    shape = x.shape[2:]
    size = math.prod(shape)
    image = np.arange(size, dtype=np.float64).reshape(shape, order='F' if storage_order else 'C')
    parts = [part.array for part in windows.parts(x, -math.inf)]
    places = [part.array for part in windows.parts(image[None, None], 0.0)]
    best = np.argmax(parts, axis=0)
    inside = np.take_along_axis(np.stack(places), best[None], axis=0)[0]
    first = size * np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(shape))
    return inside.astype(np.int64) + first


@operator('AveragePool')
def average_pool(x, *, count_include_pad, **attributes):
    windows = PoolWindows(x, **attributes)
    pad = windows.symmetric_pads
    if pad is not None and all(before == behind for before, behind in windows.needed):
        value = 0 if count_include_pad else None
        return F.average_pooling_nd(x, windows.kernel, windows.strides, pad, pad_value=value)
    return windows.combine(F.add, x, 0.0) / windows.sizes(x, count_include_pad)


@operator('LpPool')
def lp_pool(x, *, p, **attributes):
    windows = PoolWindows(x, **attributes)
    return windows.combine(F.add, F.absolute(x) ** p, 0.0) ** (1 / p)


def _whole(function):
    """A reduction of all spatial axes."""
    return lambda x: function(x, axis=tuple(range(2, x.ndim)), keepdims=True)


operators(
    {
        'GlobalAveragePool': _whole(F.mean),
        'GlobalMaxPool': _whole(F.max),
        'GlobalLpPool': lambda x, *, p: _whole(F.sum)(F.absolute(x) ** p) ** (1 / p),
    }
)


@operator('MaxUnpool', host=(1,), lists=(2,))
def max_unpool(x, indices, shape, *, kernel_shape, pads, strides):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads=pads)
    inner = tuple(
        (n - 1) * s + k - sum(pair)
        for n, s, k, pair in zip(x.shape[2:], windows.strides, windows.kernel, windows.pads)
    )
    shape = (*x.shape[:2], *inner) if shape is None else tuple(shape)
    size = v.checked_size(shape, x.dtype.itemsize)
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        raise IndexError(f'an index is not among the {size} elements of the output')
    if math.prod(inner) != math.prod(shape[2:]):
        # The indices count in the shape that pooling would have had.
        place = np.unravel_index(indices, (*x.shape[:2], *inner))
        indices = np.ravel_multi_index(place, shape)
    zeros = v.like(x, np.zeros(size, x.dtype))
    flat = F.scatter_add(zeros, (v.like(x, indices.ravel()),), F.reshape(x, (-1,)))
    return F.reshape(flat, shape)


# -- regions of images


def _bilinear(places, length):
    """Indices and weights of the two neighbors of each place; both weights are 0 outside."""
    outside = (places < -1) | (places > length)
    places = np.clip(places, 0, length - 1)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, length - 1)
    share = places - low
    return [(low, np.where(outside, 0, 1 - share)), (high, np.where(outside, 0, share))]


@operator('RoiAlign', host=(1, 2))
def roi_align(
    node, x, rois, images, *, coordinate_transformation_mode, mode, output_height, output_width,
    sampling_ratio, spatial_scale,
):  # fmt: skip
    half = node.opset >= 16 and coordinate_transformation_mode == 'half_pixel'
    if images.size and not 0 <= images.min() <= images.max() < x.shape[0]:
        raise IndexError(f'a region is in none of the {x.shape[0]} images')
    join, pool = (F.add, F.mean) if mode == 'avg' else (F.maximum, F.max)
    regions = []
    for roi, image in zip(np.asarray(rois, np.float64), images):
        low, high = np.split(roi * spatial_scale - (0.5 if half else 0), 2)
        shape, neighbors = [x.shape[1]], []
        # x comes before y.
        for axis, out in ((1, output_height), (0, output_width)):
            span = high[axis] - low[axis] if half else max(high[axis] - low[axis], 1.0)
            count = sampling_ratio or max(math.ceil(span / out), 1)
            v.checked_size((out, count), 8)
            places = low[axis] + (np.arange(out * count) + 0.5) * span / (out * count)
            neighbors.append(_bilinear(places, x.shape[3 - axis]))
            shape += [out, count]
        terms = _weighted(F.get_item(x, int(image)), *neighbors)
        samples = functools.reduce(join, (F.reshape(term, shape) for term in terms))
        regions.append(pool(samples, axis=(2, 4)))
    return F.stack(regions)


def _weighted(image, by_row, by_column):
    """The four neighbors of all samples, times their weights."""
    for (rows, row_weight), (columns, column_weight) in itertools.product(by_row, by_column):
        values = F.get_item(image, (slice(None), v.like(image, rows)))
        values = F.get_item(values, (slice(None), slice(None), v.like(image, columns)))
        weight = np.outer(row_weight, column_weight).astype(image.dtype)
        yield values * v.like(image, weight)


@operator('NonMaxSuppression', takes=HOST, scalars=(2, 3, 4))
def non_max_suppression(boxes, scores, most=0, overlap=0.0, least_score=None, *, center_point_box):
    count = boxes.shape[1] if boxes.ndim == 3 else None
    if boxes.shape[2:] != (4,) or scores.ndim != 3 or scores.shape[::2] != (len(boxes), count):
        raise ValueError(f'the shapes are {boxes.shape} and {scores.shape}')
    chosen = []
    for i, (image, all_scores) in enumerate(zip(boxes.astype(np.float64), scores)):
        first, second = image[:, :2], image[:, 2:]
        if center_point_box:
            first, second = first - second / 2, first + second / 2
        low, high = np.minimum(first, second), np.maximum(first, second)
        for j, score in enumerate(all_scores):
            order = np.argsort(-score, kind='stable')
            if least_score is not None:
                order = order[score[order] > least_score]
            kept = itertools.islice(_apart(low, high, order, overlap), int(most))
            chosen += [(i, j, box) for box in kept]
    return np.array(chosen, np.int64).reshape(-1, 3)


def _apart(low, high, order, overlap):
    """Yields boxes in an order that do not overlap with those before them."""
    area = np.prod(high - low, axis=1)
    while len(order):
        best, order = order[0], order[1:]
        yield best
        common = np.minimum(high[order], high[best]) - np.maximum(low[order], low[best])
        common = np.prod(np.maximum(common, 0), axis=1)
        order = order[common <= overlap * (area[order] + area[best] - common)]


@operator('MaxRoiPool', host=(1,))
def max_roi_pool(x, rois, *, pooled_shape, spatial_scale):
    height, width = pooled_shape
    return F.roi_pooling_2d(x, v.like(x, rois.astype(x.dtype)), height, width, spatial_scale)
