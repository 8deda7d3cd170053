"""Sampling of images at points of a grid."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer.functions._arrays import sent_like
from chainer.functions._base import CallableFunction, kernels
from chainer.functions.array.get_item import GetItemGrad
from chainer.utils import argument, type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class _Corners:
    """Pixels around the sampling points, and their weights.

    Coordinates run from the last spatial axis to the first: x, y (and z).
    """

    def __init__(self, grid: NdArray, sizes: tuple[int, ...]) -> None:
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
            # Whatever is further out samples nothing; the bounds keep the integers small.
            position = xp.where(position == position, position, 0)
            self.floors.append(xp.floor(xp.clip(position, -2, n + 1)))

    def __iter__(self) -> Iterator[Any]:
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

    def factors(self, grid: Any, offsets: Any) -> Any:
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


class SpatialTransformerSampler(CallableFunction):
    """Samples images at points of a grid."""

    _kernels = kernels(retain=(0, 1), least_size=4096)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'grid'))
        x_type, grid_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            grid_type.dtype == x_type.dtype,
            x_type.ndim >= 4,
            grid_type.ndim == x_type.ndim,
            grid_type.shape[1] == x_type.ndim - 2,
            x_type.shape[0] == grid_type.shape[0],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, grid = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        rows = _rows(xp, x)
        y = 0
        corners = _Corners(grid, x.shape[2:])
        for offsets, places, inside in corners:
            weight = _product(corners.factors(grid, offsets), inside)
            y = y + rows[places] * xp.expand_dims(weight, -1)
        # NumPy's products of bfloat16 and Python's numbers are float32.
        return (xp.moveaxis(y, -1, 1).astype(x.dtype, copy=False),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, grid = xs
        rows, gy = _rows(m, x), m.moveaxis(gys[0], 1, -1)
        grows: Any = 0
        gcoordinates = [0] * (x.ndim - 2)
        corners = _Corners(as_array(grid), x.shape[2:])
        for offsets, places, inside in corners:
            factors = corners.factors(grid, offsets)
            inside = inside.astype(gy.dtype)
            if 0 in targets:
                weight = m.expand_dims(_product(factors, inside), -1)
                part = gy * m.broadcast_to(weight, gy.shape)
                grows = grows + m.apply(GetItemGrad((places,), rows.shape), (part,))[0]
            if 1 in targets:
                slope = m.sum(gy * rows[places], axis=-1) * inside
                for d, (offset, scale) in enumerate(zip(offsets, corners.scales)):
                    others = _product([*factors[:d], *factors[d + 1 :]], slope)
                    gcoordinates[d] = gcoordinates[d] + others * (scale if offset else -scale)
        gxs = []
        for i in targets:
            if i == 0:
                gx = grows.reshape(len(x), *x.shape[2:], x.shape[1])
                gxs.append(m.moveaxis(gx, -1, 1))
            else:
                gxs.append(m.stack(gcoordinates[::-1], axis=1))
        return gxs


def _rows(m, x):
    """Matrix with a row of channels for every pixel of every image."""
    x = m.moveaxis(x, 1, -1)
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def spatial_transformer_sampler(x: VariableLike, grid: VariableLike, **kwargs: Any) -> Variable:
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
    argument.parse_kwargs(
        kwargs,
        use_cudnn='use_cudnn argument is not supported anymore. '
        "Use chainer.using_config('use_cudnn', value) context",
    )
    return SpatialTransformerSampler().apply((x, grid))[0]
