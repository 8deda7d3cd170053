"""Regions of images."""

from __future__ import annotations

import itertools
import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import HOST, operator


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
        regions.append(_pooled([F.reshape(term, shape) for term in terms], mode))
    return F.stack(regions)


def _weighted(image, by_row, by_column):
    """The four neighbors of all samples, times their weights."""
    for (rows, row_weight), (columns, column_weight) in itertools.product(by_row, by_column):
        values = F.get_item(image, (slice(None), v.like(image, rows)))
        values = F.get_item(values, (slice(None), slice(None), v.like(image, columns)))
        weight = np.outer(row_weight, column_weight).astype(image.dtype)
        yield values * F.broadcast_to(v.like(image, weight), values.shape)


def _pooled(terms, mode):
    """The mean or the largest of the samples in each part of a region."""
    if mode == 'avg':
        return F.mean(sum(terms[1:], terms[0]), axis=(2, 4))
    return F.max(F.max(F.stack(terms), axis=0), axis=(2, 4))


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
