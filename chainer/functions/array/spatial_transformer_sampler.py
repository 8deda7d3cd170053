"""Sampling of images at points of a grid."""

from __future__ import annotations

import itertools
import math

import numpy

import chainer
from chainer import backend
from chainer.backends import cuda
from chainer.functions._base import CallableFunction, sent_like
from chainer.functions._fused import FusedFunction
from chainer.functions._scatter import add_rows
from chainer.utils import argument, type_check


class _Corners:
    """Pixels around the sampling points, and their weights.

    Coordinates run from the last spatial axis to the first: x, y (and z).
    """

    def __init__(self, grid, sizes):
        """Finds pixels.

        Args:
            grid (array): Grid.
            sizes (tuple of int): Lengths of the spatial axes.

        """
        self.xp = xp = backend.get_array_module(grid)
        self.sizes = sizes
        self.scales = [(n - 1) / 2 for n in sizes]
        self.floors = []
        for d, (n, scale) in enumerate(zip(sizes, self.scales)):
            position = (grid[:, -1 - d] + 1) * scale
            # Points further out sample nothing; the bounds keep the integers small.
            position = xp.where(position == position, position, 0)
            self.floors.append(xp.floor(xp.clip(position, -2, n + 1)))

    def __iter__(self):
        """Yields offsets of a corner, the row numbers of its pixels and a mask of existing ones.

        Rows refer to a matrix with a row of channels for every pixel of every image.
        """
        xp = self.xp
        floors = self.floors[0]
        batch = sent_like(floors, numpy.arange(len(floors)))
        batch = batch.reshape((-1,) + (1,) * (floors.ndim - 1))
        for offsets in itertools.product((0, 1), repeat=len(self.sizes)):
            inside, places = True, batch
            for floor, offset, n in zip(self.floors, offsets, self.sizes):
                pixel = floor.astype(numpy.int64) + offset
                inside = inside & (pixel >= 0) & (pixel < n)
                places = places * n + xp.minimum(xp.maximum(pixel, 0), n - 1)
            yield offsets, places, inside

    def factors(self, grid, offsets):
        """Weight of a corner per axis, for a grid array or variable."""
        result = []
        for d, (offset, scale) in enumerate(zip(offsets, self.scales)):
            rest = (grid[:, -1 - d] + 1) * scale - self.floors[d]
            result.append(rest if offset else 1 - rest)
        return result


def _product(factors, weight):
    """Product of the weights of a corner and the weighted values or a mask."""
    for factor in factors:
        weight = factor * weight
    return weight


class SpatialTransformerSampler(CallableFunction, FusedFunction):
    """Samples images at points of a grid."""

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 'grid'))
        x_type, grid_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            grid_type.dtype == x_type.dtype,
            x_type.ndim >= 4,
            grid_type.ndim == x_type.ndim,
            grid_type.shape[1] == x_type.ndim - 2,
            x_type.shape[0] == grid_type.shape[0],
        )

    def forward(self, inputs):
        x, grid = inputs
        self.retain_inputs((0, 1))
        rows = _rows(cuda.get_array_module(x), x)
        corners = _Corners(grid, x.shape[2:])
        y = 0
        for offsets, places, inside in corners:
            weight = _product(corners.factors(grid, offsets), inside)
            y += rows[places] * weight[..., None]
        return (cuda.get_array_module(x).moveaxis(y, -1, 1),)

    def gradients(self, targets, xs, ys, gys):
        x, grid = xs
        xp = cuda.get_array_module(x)
        rows, gy = _rows(xp, x), xp.moveaxis(gys[0], 1, -1)
        corners = _Corners(grid, x.shape[2:])
        grows = xp.zeros(rows.shape, rows.dtype) if 0 in targets else None
        gcoordinates = [0] * len(corners.sizes)
        for offsets, places, inside in corners:
            factors = corners.factors(grid, offsets)
            if 0 in targets:
                part = gy * _product(factors, inside)[..., None]
                add_rows(grows, places.ravel(), part.reshape(-1, rows.shape[1]))
            if 1 in targets:
                slope = (gy * rows[places]).sum(axis=-1) * inside
                for d, offset in enumerate(offsets):
                    others = _product([*factors[:d], *factors[d + 1 :]], slope)
                    scale = corners.scales[d] if offset else -corners.scales[d]
                    gcoordinates[d] = gcoordinates[d] + others * scale
        gxs = []
        for i in targets:
            if i == 0:
                gx = grows.reshape(len(x), *x.shape[2:], x.shape[1])
                gxs.append(xp.ascontiguousarray(xp.moveaxis(gx, -1, 1), x.dtype))
            else:
                gxs.append(xp.stack(gcoordinates[::-1], axis=1).astype(grid.dtype, copy=False))
        return gxs

    def compose(self, x, grid):
        F = chainer.functions
        rows = _rows(F, x)
        corners = _Corners(grid.array, x.shape[2:])
        y = 0
        for offsets, places, inside in corners:
            weight = F.expand_dims(_product(corners.factors(grid, offsets), inside), -1)
            y += rows[places] * F.broadcast_to(weight, (*places.shape, x.shape[1]))
        return (F.moveaxis(y, -1, 1),)


def _rows(m, x):
    """Matrix with a row of channels for every pixel of every image."""
    x = m.moveaxis(x, 1, -1)
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def spatial_transformer_sampler(x, grid, **kwargs):
    """Samples images at points of a grid, with bilinear interpolation.

    Coordinates run from -1 to 1, the centers of the first and the last pixel. Pixels outside
    the image are zero.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)`` (volumes: ``(n, c, d, h, w)``).
        grid (:class:`~chainer.Variable` or array): Points, x and y along the second axis, of
            shape ``(n, 2, h_out, w_out)`` (volumes: ``(n, 3, d_out, h_out, w_out)``) and of the
            dtype of ``x``; see
            :func:`~chainer.functions.spatial_transformer_grid`.

    Returns:
        ~chainer.Variable: Sampled images of shape ``(n, c, h_out, w_out)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes do not fit or dtypes differ.

    See: Jaderberg et al., `Spatial Transformer Networks <https://arxiv.org/abs/1506.02025>`_,
    2015.

    .. admonition:: Example

        >>> x = np.arange(3, dtype=np.float32).reshape(1, 1, 1, 3)
        >>> grid = np.array([[[[0.5, 5.]], [[0., 0.]]]], np.float32)
        >>> F.spatial_transformer_sampler(x, grid).array
        array([[[[1.5, 0. ]]]], dtype=float32)

    """
    argument.check_unexpected_kwargs(
        kwargs,
        use_cudnn='use_cudnn argument is not supported anymore. '
        "Use chainer.using_config('use_cudnn', value) context",
    )
    argument.assert_kwargs_empty(kwargs)
    return SpatialTransformerSampler().apply((x, grid))[0]
