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
    node,
    x,
    rois,
    images,
    *,
    coordinate_transformation_mode,
    mode,
    output_height,
    output_width,
    sampling_ratio,
    spatial_scale,
):
    half = node.opset >= 16 and coordinate_transformation_mode == 'half_pixel'
    outs = (output_height, output_width)
    if images.size and not 0 <= images.min() <= images.max() < x.shape[0]:
        raise IndexError(f'a region is in none of the {x.shape[0]} images')
    regions = []
    for roi, image in zip(np.asarray(rois, np.float64), images):
        corners = roi * spatial_scale - (0.5 if half else 0)
        neighbors, counts = [], []
        for axis, out in enumerate(outs):
            begin, end = corners[1 - axis], corners[3 - axis]
            span = end - begin if half else max(end - begin, 1.0)
            count = sampling_ratio or max(math.ceil(span / out), 1)
            v.checked_size((out, count), 8)
            places = begin + (np.arange(out * count) + 0.5) * span / (out * count)
            neighbors.append(_bilinear(places, x.shape[2 + axis]))
            counts.append(count)
        picture = F.get_item(x, int(image))
        shape = (x.shape[1], output_height, counts[0], output_width, counts[1])
        terms = []
        for (rows, by_row), (columns, by_column) in itertools.product(*neighbors):
            values = F.get_item(
                F.get_item(picture, (slice(None), v.like(x, rows))),
                (slice(None), slice(None), v.like(x, columns)),
            )
            weight = v.like(x, np.outer(by_row, by_column).astype(x.dtype))
            terms.append(F.reshape(values * F.broadcast_to(weight, values.shape), shape))
        if mode == 'avg':
            regions.append(F.mean(sum(terms[1:], terms[0]), axis=(2, 4)))
        else:
            regions.append(F.max(F.max(F.stack(terms), axis=0), axis=(2, 4)))
    return F.stack(regions)


@operator('NonMaxSuppression', takes=HOST)
def non_max_suppression(boxes, scores, most, iou_threshold, score_threshold, *, center_point_box):
    count = boxes.shape[1] if boxes.ndim == 3 else None
    if boxes.shape[2:] != (4,) or scores.ndim != 3 or scores.shape[::2] != (len(boxes), count):
        raise ValueError(f'the shapes are {boxes.shape} and {scores.shape}')
    most = 0 if most is None else int(v.scalar(most))
    iou_threshold = 0.0 if iou_threshold is None else v.scalar(iou_threshold)
    chosen = []
    for i, (image, all_scores) in enumerate(zip(boxes.astype(np.float64), scores)):
        if center_point_box:
            low, high = image[:, :2] - image[:, 2:] / 2, image[:, :2] + image[:, 2:] / 2
        else:
            low = np.minimum(image[:, :2], image[:, 2:])
            high = np.maximum(image[:, :2], image[:, 2:])
        area = np.prod(high - low, axis=1)
        for j, score in enumerate(all_scores):
            order = np.argsort(-score, kind='stable')
            if score_threshold is not None:
                order = order[score[order] > v.scalar(score_threshold)]
            kept = 0
            while len(order) and kept < most:
                best, order = order[0], order[1:]
                chosen.append((i, j, best))
                kept += 1
                common = np.minimum(high[order], high[best]) - np.maximum(low[order], low[best])
                common = np.prod(np.maximum(common, 0), axis=1)
                union = area[order] + area[best] - common
                order = order[common <= iou_threshold * union]
    return np.array(chosen, np.int64).reshape(-1, 3)


@operator('MaxRoiPool', host=(1,))
def max_roi_pool(x, rois, *, pooled_shape, spatial_scale):
    return F.roi_pooling_2d(x, v.like(x, rois.astype(x.dtype)), *pooled_shape, spatial_scale)
