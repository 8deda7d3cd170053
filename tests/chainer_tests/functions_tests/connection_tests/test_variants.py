"""Variants of convolution, and the bilinear function."""

import numpy as np
import pytest
from helpers.functions import check_function

import chainer.functions as F
from chainer.utils import type_check

TOLERANCES = {np.float16: 3e-2, np.float32: 1e-4}


def sample(*shapes):
    rng = np.random.RandomState(0)
    return [rng.uniform(-1, 1, shape) for shape in shapes]


def test_dilated_convolution():
    x, W, b = sample((2, 2, 5, 6), (3, 2, 2, 2), (3,))
    arguments = {'stride': 2, 'pad': (1, 0), 'dilate': 2, 'cover_all': True}
    np.testing.assert_array_equal(
        F.dilated_convolution_2d(x, W, b, **arguments).array,
        F.convolution_2d(x, W, b, **arguments).array,
    )


@pytest.mark.parametrize('bias', [True, False])
def test_depthwise_convolution(bias):
    def expected(x, W, b=0):
        y = np.zeros((2, 6, 2, 3))
        for c in range(3):
            for d in range(2):
                for i, j in np.ndindex(2, 3):
                    y[:, c * 2 + d, i, j] = (x[:, c, i : i + 2, j : j + 2] * W[d, c]).sum((1, 2))
        return y + np.reshape(b, (-1, 1, 1))

    check_function(
        F.depthwise_convolution_2d,
        sample((2, 3, 3, 4), (2, 3, 2, 2), *[(6,)] * bias),
        expected,
        tolerances=TOLERANCES,
    )


@pytest.mark.parametrize('bias', [True, False])
@pytest.mark.parametrize('stride', [1, (1, 2)])
def test_local_convolution(stride, bias):
    sy, sx = (1, 1) if stride == 1 else stride
    outs = (2, 3) if stride == 1 else (2, 2)

    def expected(x, W, b=0):
        y = np.zeros((2, 3, *outs))
        for i, j in np.ndindex(*outs):
            patch = x[:, :, i * sy : i * sy + 2, j * sx : j * sx + 2]
            y[:, :, i, j] = np.einsum('ncuv,ocuv->no', patch, W[:, i, j])
        return y + b

    check_function(
        lambda *xs: F.local_convolution_2d(*xs, stride=stride),
        sample((2, 2, 3, 4), (3, *outs, 2, 2, 2), *[(3, *outs)] * bias),
        expected,
        tolerances=TOLERANCES,
    )


@pytest.mark.parametrize(
    'shapes',
    [
        ((2, 2, 3, 4), (3, 2, 2, 2, 2, 2)),
        ((2, 2, 3, 4), (3, 2, 3, 1, 2, 2)),
        ((2, 2, 3, 4), (3, 2, 3, 2, 2, 2), (3, 2)),
    ],
)
def test_invalid_types_of_local_convolution(shapes):
    with pytest.raises(type_check.InvalidType):
        F.local_convolution_2d(*sample(*shapes))


@pytest.mark.parametrize(
    'ksize, dilate, channels',
    [(3, 1, 9), (3, 1, 11), ((1, 3), (1, 2), 4), ((3, 1), 5, 3), (1, 1, 2)],
)
def test_shift(ksize, dilate, channels):
    kh, kw = (ksize, ksize) if isinstance(ksize, int) else ksize
    dy, dx = (dilate, dilate) if isinstance(dilate, int) else dilate
    offsets = [
        (u, v) for u in range(-(kh // 2), kh // 2 + 1) for v in range(-(kw // 2), kw // 2 + 1)
    ]
    # The last group stays, and the middle one takes its offset.
    offsets[len(offsets) // 2] = offsets[-1]
    offsets[-1] = (0, 0)

    def expected(x):
        size = channels // len(offsets)
        y = np.zeros_like(x)
        for c, i, j in np.ndindex(*x.shape[1:]):
            u, v = offsets[min(c // size, len(offsets) - 1)]
            at = i - u * dy, j - v * dx
            if 0 <= at[0] < x.shape[2] and 0 <= at[1] < x.shape[3]:
                y[:, c, i, j] = x[(slice(None), c, *at)]
        return y

    check_function(lambda x: F.shift(x, ksize, dilate), sample((2, channels, 3, 4)), expected)


def test_bad_arguments_of_shift():
    with pytest.raises(ValueError, match='kw must be odd'):
        F.shift(*sample((1, 9, 3, 3)), ksize=(3, 2))
    with pytest.raises(ValueError, match='kh must be odd'):
        F.shift(*sample((1, 9, 3, 3)), ksize=2)
    with pytest.raises(type_check.InvalidType):
        F.shift(*sample((1, 8, 3, 3)))


@pytest.mark.parametrize('e1, e2', [((2, 3), (2, 4)), ((2, 3, 1), (2, 2, 2))])
@pytest.mark.parametrize('linear', [True, False])
def test_bilinear(e1, e2, linear):
    def expected(e1, e2, W, V1=None, V2=None, b=None):
        e1, e2 = e1.reshape(2, 3), e2.reshape(2, 4)
        y = np.einsum('ij,ik,jkl->il', e1, e2, W)
        return y + e1 @ V1 + e2 @ V2 + b if linear else y

    check_function(
        F.bilinear,
        sample(e1, e2, (3, 4, 5), *[(3, 5), (4, 5), (5,)] * linear),
        expected,
        tolerances=TOLERANCES,
    )


def test_bad_arguments_of_bilinear():
    e1, e2, W, V1, V2, b = sample((2, 3), (2, 4), (3, 4, 5), (3, 5), (4, 5), (5,))
    with pytest.raises(ValueError, match='None'):
        F.bilinear(e1, e2, W, V1)
    for args in (
        (e2, e2, W),
        (e1, e2[:1], W),
        (e1, e2, W[0]),
        (e1, e2, W, V2, V2, b),
        (e1, e2, W, V1, V2, b[:1]),
    ):
        with pytest.raises(type_check.InvalidType):
            F.bilinear(*args)


@pytest.mark.parametrize('arguments', [{}, {'stride': 2, 'pad': (1, 2)}])
def test_deformable_convolution_without_offsets(arguments):
    x, W, b = sample((2, 3, 5, 6), (4, 3, 3, 2), (4,))
    expected = F.convolution_2d(x, W, b, **arguments).array
    offset = np.zeros((2, 12, *expected.shape[2:]))
    y = F.deformable_convolution_2d_sampler(x, offset, W, b, **arguments)
    np.testing.assert_allclose(y.array, expected, atol=1e-10)


def test_deformable_convolution():
    def interpolate(image, y, x):
        """Bilinear interpolation of (c, h, w) within the image."""
        i, j = min(int(y), image.shape[1] - 2), min(int(x), image.shape[2] - 2)
        u, v = y - i, x - j
        return (
            (1 - u) * (1 - v) * image[:, i, j]
            + (1 - u) * v * image[:, i, j + 1]
            + u * (1 - v) * image[:, i + 1, j]
            + u * v * image[:, i + 1, j + 1]
        )

    def expected(x, offset, W, b):
        y = np.zeros((1, 2, 2, 2))
        for i, j, u, v in np.ndindex(2, 2, 2, 2):
            k = u * 2 + v
            row = i + u + offset[0, 4 + k, i, j]
            column = j + v + offset[0, k, i, j]
            y[0, :, i, j] += W[:, :, u, v] @ interpolate(x[0], row, column)
        return y + b.reshape(-1, 1, 1)

    x, W, b = sample((1, 2, 4, 4), (2, 2, 2, 2), (2,))
    offset = np.random.RandomState(1).uniform(0.1, 0.9, (1, 8, 2, 2))
    check_function(
        F.deformable_convolution_2d_sampler, [x, offset, W, b], expected, tolerances=TOLERANCES
    )


def test_bad_offsets_of_deformable_convolution():
    x, offset, W = sample((1, 2, 4, 4), (1, 6, 3, 3), (2, 2, 2, 2))
    with pytest.raises(ValueError, match='offset'):
        F.deformable_convolution_2d_sampler(x, offset, W)
