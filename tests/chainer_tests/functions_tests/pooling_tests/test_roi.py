"""Pooling of regions of interest."""

import math

import numpy as np
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
import chainerx
from chainer.functions.pooling.roi_average_align_2d import ROIAverageAlign2D
from chainer.utils import type_check

# In eighths, which float16 holds, and partly outside of the images.
ROIS = np.array(
    [
        [0, 0, 3, 4],
        [1.5, 2, 6.5, 8.25],
        [-6.5, 1, 5, 2],
        [3, 3, 3, 3],
        [2, 5, 30, 9],
        [20, 1, 22, 2],
        [5, 4, 3, 3.5],
    ]
)
INDICES = np.array([0, 1, 1, 0, 1, 0, 1], np.int32)
IMAGES = np.random.RandomState(0).permutation(2 * 3 * 5 * 6).reshape(2, 3, 5, 6) / 16 - 5


def bins(start, stop, out, limit, scale):
    """Slices of the bins along an axis."""
    start = round(start * scale)
    size = max(round(stop * scale) - start, 1)
    return [
        slice(
            *[
                min(max(a + start, 0), limit)
                for a in (math.floor(i * size / out), math.ceil((i + 1) * size / out))
            ]
        )
        for i in range(out)
    ]


def pool_bins(x, rois, indices, outsize, scale, reduce):
    outsize = outsize if isinstance(outsize, tuple) else (outsize, outsize)
    y = np.zeros((len(rois), x.shape[1], *outsize))
    for r, (i, (y0, x0, y1, x1)) in enumerate(zip(indices, rois)):
        for u, rows in enumerate(bins(y0, y1, outsize[0], x.shape[2], scale)):
            for v, columns in enumerate(bins(x0, x1, outsize[1], x.shape[3], scale)):
                part = x[i, :, rows, columns]
                if part.size:
                    y[r, :, u, v] = reduce(part, axis=(1, 2))
    return y


def points(start, stop, out, ratio, scale):
    """Coordinates of the points of each bin along an axis."""
    size = max((stop - start) * scale, 1)
    n = ratio or math.ceil(size / out)
    return [
        [start * scale + (i + (j + 0.5) / n) * size / out for j in range(n)] for i in range(out)
    ]


def interpolate(image, y, x):
    """Value of a (c, h, w) image at a point, ``None`` if it is too far away."""
    parts = []
    for place, limit in zip((y, x), image.shape[1:]):
        if not -1 <= place <= limit:
            return None
        place = min(max(place, 0), limit - 1)
        low = min(int(place), limit - 2)
        parts.append((low, place - low))
    (i, u), (j, v) = parts
    return (
        (1 - u) * (1 - v) * image[:, i, j]
        + (1 - u) * v * image[:, i, j + 1]
        + u * (1 - v) * image[:, i + 1, j]
        + u * v * image[:, i + 1, j + 1]
    )


def align(x, rois, indices, outsize, scale, ratio, reduce):
    ratio = ratio if isinstance(ratio, tuple) else (ratio, ratio)
    y = np.zeros((len(rois), x.shape[1], *outsize))
    for r, (k, (y0, x0, y1, x1)) in enumerate(zip(indices, rois)):
        for u, rows in enumerate(points(y0, y1, outsize[0], ratio[0], scale)):
            for v, columns in enumerate(points(x0, x1, outsize[1], ratio[1], scale)):
                values = [interpolate(x[k], i, j) for i in rows for j in columns]
                y[r, :, u, v] = reduce(values)
    return y


def mean_of_points(values):
    return sum(0 if v is None else v for v in values) / len(values)


def max_of_points(values):
    return np.max([np.full(3, -np.inf) if v is None else v for v in values], axis=0)


def check(function, reference, rois=ROIS, indices=INDICES):
    """Checks a function of images; regions have no gradient."""

    def f(x):
        dtype = chainer.as_array(x).dtype
        device = (
            chainer.get_device(x.device)
            if isinstance(x, chainer.Variable)
            else (chainer.backend.get_device_from_array(x))
        )
        return function(x, device.send(rois.astype(dtype.name)), device.send(indices))

    check_function(f, [IMAGES], lambda x: reference(x, rois, indices))


@pytest.mark.parametrize('outsize, scale', [(2, 1), ((3, 1), 0.5), ((4, 7), 1.25)])
@pytest.mark.parametrize(
    'function, reduce', [(F.roi_max_pooling_2d, np.max), (F.roi_average_pooling_2d, np.mean)]
)
def test_roi_pooling_of_bins(function, reduce, outsize, scale):
    check(
        lambda *xs: function(*xs, outsize, scale),
        lambda *xs: pool_bins(*xs, outsize, scale, reduce),
    )


@pytest.mark.parametrize(
    'outsize, scale, ratio', [((2, 2), 1, 2), ((3, 1), 0.5, None), ((2, 4), 1.25, (1, None))]
)
def test_roi_align(outsize, scale, ratio):
    check(
        lambda *xs: F.roi_average_align_2d(*xs, outsize, scale, ratio),
        lambda *xs: align(*xs, outsize, scale, ratio, mean_of_points),
    )
    # Bins beyond the image make minus infinity, which has no numerical gradient.
    rois, indices = ROIS[:4].clip(0, 4), INDICES[:4]
    check(
        lambda *xs: F.roi_max_align_2d(*xs, outsize, scale, ratio),
        lambda *xs: align(*xs, outsize, scale, ratio, max_of_points),
        rois,
        indices,
    )


def test_roi_max_align_outside_of_the_image():
    x = chainer.Variable(IMAGES)
    y = F.roi_max_align_2d(x, ROIS, INDICES, (2, 2), 1, 2)
    np.testing.assert_allclose(y.array, align(IMAGES, ROIS, INDICES, (2, 2), 1, 2, max_of_points))
    y.grad = np.ones_like(y.array)
    y.backward()
    assert x.grad.sum() == pytest.approx(np.isfinite(y.array).sum())


@pytest.mark.chainerx
def test_roi_max_align_outside_of_a_chainerx_image():
    xs = [IMAGES, ROIS, INDICES]
    x, *rest = map(chainerx.array, xs)
    y = F.roi_max_align_2d(x.require_grad(), *rest, (2, 2), 1, 2)
    expected = align(*xs, (2, 2), 1, 2, max_of_points)
    assert np.isinf(expected).any()
    np.testing.assert_allclose(chainer.backend.from_chx(y.array), expected)
    F.sum(F.where(y.array > -100, y, y * 0)).backward()
    assert float(x.grad.sum()) == pytest.approx(np.isfinite(expected).sum())


@pytest.mark.parametrize('outsize, scale', [((2, 2), 1), ((3, 1), 0.5)])
def test_roi_pooling(outsize, scale):
    rois = np.array([[0, 0, 0, 3, 4], [1, 1, 2, 9, 4], [1, 3, 3, 3, 3], [0, 4, 3, 2, 1]])

    def reference(x, rois, indices):
        # With inclusive corners, which the reference takes after scaling.
        corners = np.rint(rois[:, [2, 1, 4, 3]] * scale) + [0, 0, 1, 1]
        return pool_bins(x, corners, rois[:, 0].astype(int), outsize, 1, np.max)

    check(lambda x, rois, _: F.roi_pooling_2d(x, rois, *outsize, scale), reference, rois)


def test_first_of_equal_maxima():
    x = chainer.Variable(np.zeros((1, 1, 3, 3)))
    y = F.roi_max_pooling_2d(x, np.array([[0, 0, 3, 3.0]]), np.array([0]), 1, 1)
    y.grad = np.ones_like(y.array)
    y.backward()
    assert x.grad[0, 0, 0, 0] == 1 and x.grad.sum() == 1


FUNCTIONS = [
    F.roi_max_pooling_2d,
    F.roi_average_pooling_2d,
    F.roi_max_align_2d,
    F.roi_average_align_2d,
]


@pytest.mark.parametrize('function', FUNCTIONS)
def test_no_regions(function):
    x = chainer.Variable(IMAGES)
    y = function(x, np.zeros((0, 4)), np.zeros(0, np.int32), (2, 3), 1)
    assert y.shape == (0, 3, 2, 3)
    y.grad = y.array
    y.backward()
    assert not x.grad.any()


@pytest.mark.parametrize('function', FUNCTIONS)
def test_bad_arguments(function):
    for outsize, scale in ((0, 1), (2.5, 1), ((2, -1), 1), (2, 0), (2, '1')):
        with pytest.raises(TypeError, match='outsize|spatial_scale'):
            function(IMAGES, ROIS, INDICES, outsize, scale)
    with pytest.raises(ValueError):
        function(IMAGES, ROIS, INDICES, (1, 2, 3), 1)
    for x, rois, indices in (
        (IMAGES[0], ROIS, INDICES),
        (IMAGES, ROIS[:, :3], INDICES),
        (IMAGES, ROIS.astype(np.float32), INDICES),
        (IMAGES, ROIS, INDICES[:2]),
        (IMAGES, ROIS, INDICES.astype(float)),
    ):
        with pytest.raises(type_check.InvalidType):
            function(x, rois, indices, 2, 1)


def test_bad_arguments_of_single_functions():
    for ratio in (0, 1.5, (1, -1), (1, 2, 3)):
        with pytest.raises(TypeError, match='sampling_ratio'):
            ROIAverageAlign2D(2, 1, ratio)
    for outh, outw, scale in ((0, 1, 1), (1, 1.5, 1), (1, 1, -1)):
        with pytest.raises(TypeError, match='must be'):
            F.roi_pooling_2d(IMAGES, np.zeros((1, 5)), outh, outw, scale)
    with pytest.raises(type_check.InvalidType):
        F.roi_pooling_2d(IMAGES, np.zeros((1, 4)), 1, 1, 1)


def test_attributes():
    func = ROIAverageAlign2D((2, 3), 1, (None, 2))
    assert (func.outh, func.outw, func.spatial_scale, func.sampling_ratio) == (2, 3, 1.0, (None, 2))
