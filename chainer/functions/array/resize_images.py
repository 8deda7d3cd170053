"""Resizing of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation, kernels
from chainer.functions._scatter import add_rows
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _positions(out_size, in_size, mode, align_corners, xp):
    """Positions of output pixels in the input along an axis: integral and fractional parts."""
    i = xp.arange(out_size, dtype=numpy.float64)
    if mode == 'nearest':
        position = xp.minimum(xp.floor(i * (in_size / out_size)), in_size - 1)
    elif align_corners:
        position = xp.linspace(0, in_size - 1, num=out_size, dtype=numpy.float64)
    else:
        position = xp.maximum((i + 0.5) * (in_size / out_size) - 0.5, 0)
    floor = xp.floor(position)
    return floor.astype(numpy.int32), position - floor


def compute_indices_and_weights(
    out_size: Sequence[int], in_size: Sequence[int], mode: str, align_corners: bool, xp: Xp
) -> tuple[NdArray, ...]:
    """Source positions of the pixels of a resized image.

    Args:
        out_size (pair of int): Height and width of the output.
        in_size (pair of int): Height and width of the input.
        mode (str): ``'bilinear'`` or ``'nearest'``.
        align_corners (bool): Whether the centers of the corner pixels coincide.
        xp: Array module.

    Returns:
        tuple: Rows and columns, of dtype int32, and the weights of the next row and of the next
            column, of dtype float64.

    .. admonition:: Example

        >>> v, u, vw, uw = compute_indices_and_weights((1, 3), (1, 2), 'bilinear', True, np)
        >>> u, uw
        (array([0, 0, 1], dtype=int32), array([0. , 0.5, 0. ]))

    """
    v, vw = _positions(out_size[0], in_size[0], mode, align_corners, xp)
    u, uw = _positions(out_size[1], in_size[1], mode, align_corners, xp)
    return v, u, vw, uw


def _interpolate(x, index, weight, axis):
    """Linear interpolation along an axis."""
    xp = cuda.get_array_module(x)
    y = x.take(index, axis)
    if xp is numpy and not weight.any():
        return y
    shape = [1] * x.ndim
    shape[axis] = -1
    weight = weight.astype(x.dtype).reshape(shape)
    following = x.take(xp.minimum(index + 1, x.shape[axis] - 1), axis)
    # Exact where both are the same, and at whole positions.
    following -= y
    following *= weight
    y += following
    return y


def _interpolate_chainerx(x, index, weight, axis):
    """:func:`_interpolate` for a ChainerX array; the index and weights are NumPy arrays."""
    y = x.take(index, axis)
    if not weight.any():
        return y
    weight = weight.astype(x.dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    following = x.take(numpy.minimum(index + 1, x.shape[axis] - 1), axis)
    return y + (following - y) * sent_like(x, weight)


def interpolate_bilinear_cpu(
    x: NdArray, v: NdArray, u: NdArray, vw: NdArray, uw: NdArray
) -> NdArray:
    """Samples images at given rows and columns.

    Args:
        x (array): Images of shape ``(n, c, h, w)``.
        v (array): Rows, of shape ``(out_h,)``.
        u (array): Columns, of shape ``(out_w,)``.
        vw (array): Weights of the row after each row.
        uw (array): Weights of the column after each column.

    Returns:
        Array of shape ``(n, c, out_h, out_w)``.

    .. admonition:: Example

        >>> x = np.array([[[[0, 4]]]], np.float32)
        >>> zero = np.array([0])
        >>> interpolate_bilinear_cpu(x, zero, zero, np.array([0.]), np.array([0.25]))
        array([[[[1.]]]], dtype=float32)

    """
    return _interpolate(_interpolate(x, v, vw, 2), u, uw, 3)


def interpolate_bilinear_gpu(
    x: NdArray, v: NdArray, u: NdArray, vw: NdArray, uw: NdArray
) -> NdArray:
    """Samples images at given rows and columns; see :func:`interpolate_bilinear_cpu`."""
    return interpolate_bilinear_cpu(x, v, u, vw, uw)


def _interpolate_grad(gy, index, weight, axis, length):
    """Transpose of :func:`_interpolate`."""
    xp = cuda.get_array_module(gy)
    gy = xp.moveaxis(gy, axis, 0)
    gx = xp.zeros((length, *gy.shape[1:]), gy.dtype)
    if gy.size:
        weight = weight.astype(gy.dtype).reshape((-1,) + (1,) * (gy.ndim - 1))
        add_rows(gx, index, gy * (1 - weight))
        add_rows(gx, xp.minimum(index + 1, length - 1), gy * weight)
    return xp.moveaxis(gx, 0, axis)


def interpolate_grad_bilinear_cpu(
    gy: NdArray, v: NdArray, u: NdArray, vw: NdArray, uw: NdArray, H: int, W: int
) -> NdArray:
    """Gradient of :func:`interpolate_bilinear_cpu`.

    Args:
        gy (array): Gradient of the output, of shape ``(n, c, out_h, out_w)``.
        v (array): Rows, of shape ``(out_h,)``, in ascending order.
        u (array): Columns, of shape ``(out_w,)``, in ascending order.
        vw (array): Weights of the row after each row.
        uw (array): Weights of the column after each column.
        H (int): Height of the input.
        W (int): Width of the input.

    Returns:
        Array of shape ``(n, c, H, W)``.

    .. admonition:: Example

        >>> gy = np.array([[[[4]]]], np.float32)
        >>> zero = np.array([0])
        >>> interpolate_grad_bilinear_cpu(gy, zero, zero, np.array([0.]), np.array([0.25]), 1, 2)
        array([[[[3., 1.]]]], dtype=float32)

    """
    gx = _interpolate_grad(gy, u, uw, 3, W)
    return _interpolate_grad(gx, v, vw, 2, H)


def interpolate_grad_bilinear_gpu(
    gy: NdArray, v: NdArray, u: NdArray, vw: NdArray, uw: NdArray, H: int, W: int
) -> NdArray:
    """Gradient of images sampled on a GPU; see :func:`interpolate_grad_bilinear_cpu`."""
    return interpolate_grad_bilinear_cpu(gy, v, u, vw, uw, H, W)


class ResizeImages(Operation):
    """Resizes images."""

    out_H: int
    out_W: int

    _kernels = kernels(least_size=4096)

    def __init__(self, output_shape: Sequence[int], mode: str, align_corners: bool) -> None:
        assert mode in ('bilinear', 'nearest'), (
            f"mode must be 'bilinear' or 'nearest', not {mode!r}"
        )
        self.out_H, self.out_W = output_shape[0], output_shape[1]
        self.mode = mode
        self.align_corners = align_corners

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)

    def _indices_and_weights(self, in_size, xp):
        return compute_indices_and_weights(
            (self.out_H, self.out_W), in_size, self.mode, self.align_corners, xp
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        xp = cuda.get_array_module(x)
        indices = self._indices_and_weights(x.shape[2:], xp)
        if xp is numpy:
            return (interpolate_bilinear_cpu(x, *indices),)
        return (interpolate_bilinear_gpu(x, *indices),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        v, u, vw, uw = self._indices_and_weights(x.shape[2:], numpy)
        return (_interpolate_chainerx(_interpolate_chainerx(x, v, vw, 2), u, uw, 3),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(ResizeImagesGrad(self, self.inputs[0].shape), gys)


class ResizeImagesGrad(Operation):
    """Gradient of resized images."""

    def __init__(self, resize: ResizeImages, in_shape: tuple[int, ...]) -> None:
        self._resize = resize
        self._in_size = in_shape[2:]

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (gy,) = inputs
        xp = cuda.get_array_module(gy)
        indices = self._resize._indices_and_weights(self._in_size, xp)
        if xp is numpy:
            return (interpolate_grad_bilinear_cpu(gy, *indices, *self._in_size),)
        return (interpolate_grad_bilinear_gpu(gy, *indices, *self._in_size),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        func = self._resize
        size = func.out_H, func.out_W
        return m.apply(ResizeImages(size, func.mode, func.align_corners), gys)


def resize_images(
    x: VariableLike,
    output_shape: Sequence[int],
    *,
    mode: str = 'bilinear',
    align_corners: bool = True,
) -> Variable:
    """Resizes images.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        output_shape (pair of int): Height and width of the output.
        mode (str): ``'bilinear'``, or ``'nearest'`` for the pixel at the rounded-down position.
        align_corners (bool): With bilinear interpolation, whether the centers of the corner
            pixels of input and output coincide; otherwise the outer corners of these pixels do.

    Returns:
        ~chainer.Variable: Images of shape ``(n, c, *output_shape)``.

    Raises:
        AssertionError: If ``mode`` is unknown.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not four-dimensional and floating
            point.

    .. admonition:: Example

        >>> x = np.array([[[[0, 3]]]], np.float32)
        >>> F.resize_images(x, (1, 4)).array
        array([[[[0., 1., 2., 3.]]]], dtype=float32)
        >>> F.resize_images(x, (1, 4), mode='nearest').array
        array([[[[0., 0., 3., 3.]]]], dtype=float32)

    """
    return ResizeImages(output_shape, mode, align_corners).apply((x,))[0]
