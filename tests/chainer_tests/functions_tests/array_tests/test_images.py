"""Functions that sample images."""

import numpy
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
from chainer.functions.array import resize_images as resize_module
from chainer.utils import type_check

X = numpy.random.RandomState(0).uniform(-1, 1, (2, 3, 4, 3))


def _matrix(n_out, n_in, mode, align_corners):
    """Interpolation matrix of one axis."""
    a = numpy.zeros((n_out, n_in))
    for i in range(n_out):
        if mode == 'nearest':
            a[i, int(i * n_in / n_out)] = 1
            continue
        if align_corners:
            p = i * (n_in - 1) / (n_out - 1) if n_out > 1 else 0
        else:
            p = max((i + 0.5) * n_in / n_out - 0.5, 0)
        j = min(int(p), n_in - 1)
        a[i, j] += 1 - (p - j)
        a[i, min(j + 1, n_in - 1)] += p - j
    return a


@pytest.mark.parametrize('size', [(4, 3), (7, 5), (2, 2), (1, 6), (3, 1), (8, 6)])
@pytest.mark.parametrize(
    'mode,align_corners',
    [('bilinear', True), ('bilinear', False), ('nearest', False), ('nearest', True)],
)
def test_resize_images(size, mode, align_corners):
    def expected(x):
        rows = _matrix(size[0], x.shape[2], mode, align_corners)
        columns = _matrix(size[1], x.shape[3], mode, align_corners)
        return rows @ x @ columns.T

    check_function(
        lambda x: F.resize_images(x, size, mode=mode, align_corners=align_corners),
        X,
        expected,
        dtypes='efd' if size == (7, 5) else 'd',
    )


def test_resize_images_empty_batch():
    check_function(lambda x: F.resize_images(x, (2, 2)), X[:0], lambda x: x[:, :, :2, :2])


def test_resize_images_errors():
    with pytest.raises(AssertionError):
        F.resize_images(X, (2, 2), mode='cubic')
    with pytest.raises(TypeError):
        F.resize_images(X, (2, 2), 'bilinear')
    for x in (X[0], X.astype(int)):
        with pytest.raises(type_check.InvalidType):
            F.resize_images(x, (2, 2))


def test_resize_images_helpers():
    v, u, vw, uw = resize_module.compute_indices_and_weights(
        (3, 2), (4, 3), 'bilinear', True, numpy
    )
    assert v.tolist() == [0, 1, 3] and vw.tolist() == [0, 0.5, 0]
    assert u.tolist() == [0, 2] and uw.tolist() == [0, 0]
    y = resize_module.interpolate_bilinear_cpu(X, v, u, vw, uw)
    gx = resize_module.interpolate_grad_bilinear_cpu(y, v, u, vw, uw, 4, 3)
    assert gx.shape == X.shape
    # A linear map and its transpose.
    numpy.testing.assert_allclose((gx * X).sum(), (y * y).sum())


def _grid(theta, size):
    axes = [numpy.linspace(-1, 1, n) for n in size]
    points = numpy.stack([*numpy.meshgrid(*axes, indexing='ij')[::-1], numpy.ones(size)])
    return numpy.einsum('nij,j...->ni...', theta, points)


@pytest.mark.parametrize('size', [(2, 3), (1, 4), (2, 1, 3)])
def test_grid(size):
    theta = numpy.random.uniform(-1, 1, (2, len(size), len(size) + 1))
    check_function(
        lambda theta: F.spatial_transformer_grid(theta, size),
        theta,
        lambda theta: _grid(theta, size),
    )


def test_grid_errors():
    theta = numpy.zeros((2, 2, 3))
    for bad in (theta[0], theta[:, :1], theta[..., :2], theta.astype(int)):
        with pytest.raises(type_check.InvalidType):
            F.spatial_transformer_grid(bad, (2, 2))
    with pytest.raises(ValueError):
        F.spatial_transformer_grid(theta, (2, 2), use_cudnn=True)
    with pytest.raises(TypeError):
        F.spatial_transformer_grid(theta, (2, 2), other=True)


def _sample(x, grid):
    """Sampling from images with zeros around, point by point."""
    sizes = x.shape[2:]
    y = numpy.zeros(x.shape[:2] + grid.shape[2:], x.dtype)
    for n, *out in numpy.ndindex(grid.shape[0], *grid.shape[2:]):
        position = [
            (grid[(n, len(sizes) - 1 - d, *out)] + 1) * (size - 1) / 2
            for d, size in enumerate(sizes)
        ]
        for pixel in numpy.ndindex(*sizes):
            weight = numpy.prod([max(0, 1 - abs(p - i)) for p, i in zip(position, pixel)])
            y[(n, slice(None), *out)] += weight * x[(n, slice(None), *pixel)]
    return y


@pytest.mark.parametrize(
    'x_shape,size',
    [
        ((2, 3, 4, 3), (2, 3)),
        ((1, 2, 2, 2), (3, 3)),
        ((1, 1, 1, 3), (2, 2)),
        ((1, 2, 2, 3, 2), (2, 1, 2)),
    ],
)
def test_sampler(x_shape, size):
    random = numpy.random.RandomState(1)
    x = random.uniform(-1, 1, x_shape)
    grid = random.uniform(-1.6, 1.6, (x_shape[0], len(size), *size))
    # Points far outside sample nothing.
    grid[0, 0, 0] = [3.3, -1e6, 1e6][: grid.shape[3]] if len(size) == 2 else 7.0
    check_function(F.spatial_transformer_sampler, (x, grid), _sample, dtypes='fd', eps=1e-6)
    if len(size) == 2:
        y = F.spatial_transformer_sampler(x.astype('e'), grid.clip(-2, 2).astype('e'))
        assert y.dtype == 'e'


def test_sampler_identity():
    theta = numpy.tile(numpy.array([[1.0, 0, 0], [0, 1, 0]]), (2, 1, 1))
    grid = F.spatial_transformer_grid(theta, X.shape[2:])
    y = F.spatial_transformer_sampler(X, grid)
    numpy.testing.assert_allclose(y.array, X, rtol=1e-12)


@pytest.mark.parametrize('axis', [0, 1])
def test_sampler_of_nan(axis):
    """A point that is not a number spoils no other one."""
    grid = numpy.zeros((2, 2, 1, 3))
    expected = F.spatial_transformer_sampler(X, grid).array
    grid[1, axis, 0, 1] = numpy.nan
    x = chainer.Variable(X)
    y = F.spatial_transformer_sampler(x, grid)
    others = numpy.ones(y.shape, bool)
    others[1, :, 0, 1] = False
    numpy.testing.assert_array_equal(y.array[others], expected[others])
    F.sum(F.where(others, y, numpy.zeros_like(expected))).backward()
    assert numpy.isfinite(x.grad[0]).all()


def test_sampler_errors():
    grid = numpy.zeros((2, 2, 3, 3))
    for x_bad, grid_bad in [
        (X[0], grid[0]),
        (X[:1], grid),
        (X, grid[:, :1]),
        (X, grid.astype('f')),
        (X.astype(int), grid.astype(int)),
    ]:
        with pytest.raises(type_check.InvalidType):
            F.spatial_transformer_sampler(x_bad, grid_bad)
    with pytest.raises(ValueError):
        F.spatial_transformer_sampler(X, grid, use_cudnn=True)


def test_sampler_gradient_of_one_input():
    x = chainer.Variable(X)
    grid = numpy.zeros((2, 2, 1, 1))
    for inputs in [(x, grid), (X, chainer.Variable(grid))]:
        y = F.spatial_transformer_sampler(*inputs)
        F.sum(y).backward()
    numpy.testing.assert_allclose(x.grad.sum(), 6)
