"""Grids of sampling points of spatial transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions._base import CallableFunction
from chainer.utils import argument, type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _points(output_shape, xp, dtype):
    """Homogeneous coordinates of the pixels, x first: ``(ndim + 1, number of pixels)``."""
    axes = [xp.linspace(-1, 1, n, dtype=dtype) for n in output_shape]
    coordinates = [c.ravel() for c in xp.meshgrid(*axes, indexing='ij')[::-1]]
    return xp.stack([*coordinates, xp.ones_like(coordinates[0])])


class SpatialTransformerGrid(CallableFunction):
    """Makes a grid of sampling points of affine transformations."""

    # The matrix product of NumPy is as fast.
    _kernels = NO_KERNELS

    def __init__(self, output_shape: tuple[int, ...]) -> None:
        self.output_shape: tuple[int, ...] = tuple(output_shape)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('theta',))
        (theta_type,) = in_types
        ndim = len(self.output_shape)
        type_check.expect(
            theta_type.dtype.kind == 'f',
            theta_type.ndim == 3,
            theta_type.shape[1] == ndim,
            theta_type.shape[2] == ndim + 1,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (theta,) = inputs
        # Coordinates in float64, because float16 rounding would move whole rows.
        points = _points(self.output_shape, numpy, numpy.float64).astype(theta.dtype)
        grid = backend.get_array_module(theta).matmul(theta, sent_like(theta, points))
        grid = grid.astype(theta.dtype, copy=False)  # NumPy's products of bfloat16 are float32
        return (grid.reshape(len(theta), len(self.output_shape), *self.output_shape),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (ggrid,) = gys
        xp = cuda.get_array_module(ggrid)
        points = _points(self.output_shape, xp, numpy.float64).astype(ggrid.dtype)
        n, ndim = ggrid.shape[:2]
        rows = ggrid.reshape(n * ndim, points.shape[1])
        return (m.matmul(rows, points.T).reshape(n, ndim, ndim + 1),)


def spatial_transformer_grid(
    theta: VariableLike, output_shape: tuple[int, ...], **kwargs: Any
) -> Variable:
    """Makes a grid of sampling points of affine transformations.

    The pixels of the output have coordinates from -1 to 1 in each direction. The grid maps each
    of them to the point ``theta @ (x, y, 1)`` of the input, in the same coordinates.

    Args:
        theta (:class:`~chainer.Variable` or array): Affine transformations, floating point
            numbers of shape ``(n, 2, 3)`` (volumes: ``(n, 3, 4)``).
        output_shape (tuple of int): Height and width of the output (volumes: depth, height
            and width).

    Returns:
        ~chainer.Variable: Grid of shape ``(n, 2, height, width)``, of the dtype of ``theta``;
        its second axis contains x and y.

    Raises:
        ~chainer.utils.type_check.InvalidType: If the shape of ``theta`` is wrong or not floating
            point.

    See: Jaderberg et al., `Spatial Transformer Networks <https://arxiv.org/abs/1506.02025>`_,
    2015.

    .. admonition:: Example

        >>> theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
        >>> F.spatial_transformer_grid(theta, (1, 3)).array[0, 0]
        array([[-1.,  0.,  1.]], dtype=float32)

    """
    argument.parse_kwargs(
        kwargs,
        use_cudnn='use_cudnn argument is not supported anymore. '
        "Use chainer.using_config('use_cudnn', value) context",
    )
    return SpatialTransformerGrid(output_shape).apply((theta,))[0]
