"""Sampling of images: resizing, grids, regions and boxes."""

from __future__ import annotations

import io
import itertools
import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import HOST, operator

_ROUND = {
    'round_prefer_floor': lambda x: np.ceil(x - 0.5),
    'round_prefer_ceil': lambda x: np.floor(x + 0.5),
    'floor': np.floor,
    'ceil': np.ceil,
}


def _checked_scales(scales):
    scales = [float(s) for s in scales]
    if not all(s > 0 for s in scales):
        raise ValueError(f'the scales {scales} are not all positive')
    return scales


@operator('Upsample', host=(1,))
def upsample(
    node, x, factors=None, /, *, mode='nearest', scales=None, height_scale=None, width_scale=None
):
    if scales is None and factors is None:
        scales = (1.0, 1.0, height_scale, width_scale)
    scales = _checked_scales(scales if factors is None else factors)
    sizes = [math.floor(n * s) for n, s in zip(x.shape, scales)]
    for axis, (size, scale) in enumerate(zip(sizes, scales)):
        places = np.arange(size) / scale
        x = _resample(x, axis, places, 'linear' if 'linear' in mode else mode, scale, 'floor')
    return x


@operator('Resize', host=(1, 2, 3))
def resize(
    node,
    x,
    roi=None,
    scales=None,
    sizes=None,
    /,
    *,
    antialias=0,
    axes=None,
    coordinate_transformation_mode='half_pixel',
    cubic_coeff_a=-0.75,
    exclude_outside=0,
    extrapolation_value=0.0,
    keep_aspect_ratio_policy='stretch',
    mode='nearest',
    nearest_mode='round_prefer_floor',
):
    if node.opset < 11:  # its second input are the scales
        coordinate_transformation_mode, nearest_mode, scales = 'asymmetric', 'floor', roi
    axes = [v.axis_of(a, x.ndim) for a in axes] if axes else list(range(x.ndim))
    lengths = [x.shape[a] for a in axes]
    if scales is not None and scales.size:
        scales = _checked_scales(scales)
        sizes = [math.floor(n * s) for n, s in zip(lengths, scales)]
    else:
        sizes = v.ints(sizes)
        if any(n < 1 for n in sizes):
            raise ValueError(f'the sizes {sizes} are not all positive')
        scales = [m / n for m, n in zip(sizes, lengths)]
        if keep_aspect_ratio_policy != 'stretch':
            scale = (min if keep_aspect_ratio_policy == 'not_larger' else max)(scales)
            scales = [scale] * len(scales)
            sizes = [math.floor(n * scale + 0.5) for n in lengths]
    if len(sizes) != len(axes):
        raise ValueError(f'{len(sizes)} sizes for {len(axes)} axes')
    shape = list(x.shape)
    for axis, size in zip(axes, sizes):
        shape[axis] = size
    v.checked_size(shape, x.dtype.itemsize)
    crop = coordinate_transformation_mode == 'tf_crop_and_resize'
    dtype = x.dtype
    if mode != 'nearest' and not v.is_float(x):
        x = v.cast(x, np.float64)
    outside = np.zeros((1,) * x.ndim, bool)
    for i, (axis, size, scale) in enumerate(zip(axes, sizes, scales)):
        box = (float(roi[i]), float(roi[i + len(axes)])) if crop else None
        places = _places(coordinate_transformation_mode, size, scale, lengths[i], box)
        if crop:
            beyond = (places < 0) | (places > lengths[i] - 1)
            outside = outside | beyond.reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        elif size == lengths[i] and np.array_equal(places, np.arange(size)):
            continue
        x = _resample(
            x, axis, places, mode, scale, nearest_mode, antialias, cubic_coeff_a, exclude_outside
        )
    if outside.any():
        outside = np.broadcast_to(outside, x.shape).copy()
        fill = np.full(x.shape, extrapolation_value, x.dtype)
        x = F.where(v.like(x, outside), v.like(x, fill), x)
    return v.cast(x, dtype)


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
    if mode in ('half_pixel', 'pytorch_half_pixel'):
        return half
    raise ValueError(f'there is no coordinate_transformation_mode {mode!r}')


def _resample(
    x,
    axis,
    places,
    mode,
    scale,
    nearest_mode='floor',
    antialias=False,
    cubic_coeff_a=-0.75,
    exclude_outside=False,
):
    """Values along an axis at places between elements."""
    length = x.shape[axis]
    if mode == 'nearest':
        nearest = np.clip(_ROUND[nearest_mode](places), 0, length - 1).astype(np.int64)
        return F.get_item(x, (slice(None),) * axis + (v.like(x, nearest),))
    weights = _weights(
        places,
        length,
        mode,
        max(1.0, 1 / scale) if antialias else 1.0,
        cubic_coeff_a,
        exclude_outside,
    )
    weights = v.like(x, weights.astype(x.dtype))
    return F.moveaxis(F.tensordot(x, weights, axes=((axis,), (1,))), -1, axis)


def _linear(distance, a):
    return np.maximum(1 - np.abs(distance), 0)


def _cubic(distance, a):
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _weights(places, length, mode, stretch, cubic_coeff_a, exclude_outside):
    """A matrix that interpolates a row of ``length`` elements at places."""
    kernel, reach = (_linear, 1) if mode == 'linear' else (_cubic, 2)
    reach = math.ceil(reach * stretch)
    neighbors = np.floor(places)[:, None] + np.arange(1 - reach, reach + 1)
    each = kernel((neighbors - places[:, None]) / stretch, cubic_coeff_a)
    if exclude_outside:
        each = np.where((neighbors >= 0) & (neighbors < length), each, 0)
    if exclude_outside or stretch > 1:
        each = each / each.sum(axis=1, keepdims=True)
    matrix = np.zeros((len(places), length))
    columns = np.clip(neighbors, 0, length - 1).astype(np.int64)
    np.add.at(matrix, (np.arange(len(places))[:, None], columns), each)
    return matrix


# -- grids


def _floor(x):
    return v.calling_arrays(lambda a: v.xp_of(a).floor(a), x)


def _reflect(x, low, high):
    """Coordinates mirrored at both ends, until they lie between."""
    span = high - low
    if span <= 0:
        return x * 0
    # The distance from the nearest multiple of twice the span.
    turns = v.calling_arrays(lambda a: v.xp_of(a).floor((a - low) / (2 * span)) * (2 * span), x)
    phase = F.identity(x) - low - turns
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
    batch = coordinates[0].shape[0]
    image = np.arange(batch).reshape((-1,) + (1,) * (len(coordinates[0].shape) - 1))
    image = v.like(x, np.broadcast_to(image, coordinates[0].shape).copy())
    axes = []
    for axis, coordinate in enumerate(coordinates):
        floor = _floor(coordinate)
        choices = []
        for offset in offsets:
            weight = kernel(F.identity(coordinate) - (floor + offset))
            index = place(v.array_of(floor + offset), axis)
            inside = v.calling_arrays(
                lambda i, n=shape[axis]: ((i >= 0) & (i < n)).astype(i.dtype), index
            )
            index = v.calling_arrays(
                lambda i, n=shape[axis]: i.clip(0, n - 1).astype(np.int64), index
            )
            choices.append((weight * inside, index))
        axes.append(choices)
    y = None
    for neighbor in itertools.product(*axes):
        weight = neighbor[0][0]
        for each, _ in neighbor[1:]:
            weight = weight * each
        values = F.get_item(last, (image, *(index for _, index in neighbor)))
        term = values * F.expand_dims(weight, -1)
        y = term if y is None else y + term
    return F.moveaxis(y, -1, 1)


def _hat(distance):
    return F.relu(1 - F.absolute(distance))


def _keys(distance):
    """The cubic kernel whose parameter is -0.75."""
    a = -0.75
    d = F.absolute(distance)
    near = ((a + 2) * d - (a + 3)) * F.square(d) + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return F.where(v.calling_arrays(lambda e: e <= 1, d), near, far)


def sample_linear(x, coordinates):
    """Linear interpolation at coordinates, with zeros outside; see :func:`_sample`."""
    return _sample(x, coordinates, _hat, (0, 1), lambda index, axis: index)


@operator('GridSample')
def grid_sample(node, x, grid, /, *, align_corners=0, mode='linear', padding_mode='zeros'):
    mode = mode.removeprefix('bi').removeprefix('tri')
    shape = x.shape[2:]
    if grid.shape[-1] != len(shape):
        raise ValueError(f'the grid has {grid.shape[-1]} coordinates for {len(shape)} spatial axes')
    ends = [(0.0, n - 1.0) if align_corners else (-0.5, n - 0.5) for n in shape]
    coordinates = []
    for axis, n in enumerate(shape):
        each = F.get_item(grid, (Ellipsis, len(shape) - 1 - axis)) + 1
        each = each * ((n - 1) / 2) if align_corners else (each * n - 1) / 2
        if mode == 'nearest':
            each = v.calling_arrays(lambda a: v.xp_of(a).rint(a), each)
        if mode != 'cubic':
            if padding_mode == 'reflection':
                each = _reflect(each, *ends[axis])
            if padding_mode != 'zeros':
                each = F.clip(each, 0.0, n - 1.0)
        coordinates.append(each)

    def place(index, axis):
        n = shape[axis]
        if padding_mode == 'zeros':
            return index
        if padding_mode == 'reflection':
            index = v.array_of(_reflect(index, *ends[axis]))
        return v.calling_arrays(lambda i: i.clip(0, n - 1), index)

    if mode == 'nearest':
        return _sample(x, coordinates, lambda d: d * 0 + 1, (0,), place)
    if mode == 'linear':
        return _sample(x, coordinates, _hat, (0, 1), place)
    return _sample(x, coordinates, _keys, (-1, 0, 1, 2), place)


# -- regions


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
    /,
    *,
    coordinate_transformation_mode=None,
    mode='avg',
    output_height=1,
    output_width=1,
    sampling_ratio=0,
    spatial_scale=1.0,
):
    if coordinate_transformation_mode is None:
        coordinate_transformation_mode = 'half_pixel' if node.opset >= 16 else 'output_half_pixel'
    half = coordinate_transformation_mode == 'half_pixel'
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
def non_max_suppression(
    node,
    boxes,
    scores,
    most=None,
    iou_threshold=None,
    score_threshold=None,
    /,
    *,
    center_point_box=0,
):
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


@operator('ImageDecoder', takes=HOST)
def image_decoder(node, stream, /, *, pixel_format='RGB'):
    from PIL import Image

    with Image.open(io.BytesIO(stream.tobytes())) as image:
        pixels = np.array(image.convert('L' if pixel_format == 'Grayscale' else 'RGB'))
    if pixel_format == 'Grayscale':
        return pixels[:, :, None]
    return pixels[:, :, ::-1].copy() if pixel_format == 'BGR' else pixels
