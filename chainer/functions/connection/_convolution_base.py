"""Base of convolution and deconvolution in any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.functions._arguments import pair
from chainer.functions._base import Operation
from chainer.functions.connection._convolution_plan import get_plan
from chainer.utils import conv_nd


class ConvolutionBase(Operation):
    """Base of convolution and deconvolution.

    Attributes:
        ndim (int): Number of spatial dimensions.
        stride, pad, dilate (tuple of int): One per dimension.
        groups (int): Number of groups.
        outs (tuple or None): Spatial shape of the output, if given. ``None`` here, or for an axis,
            means the default until the function is applied.

    """

    outs: tuple[int | None, ...] | None = None

    @property
    def transposed_class(self) -> type[ConvolutionBase]:
        """Class of the transposed function, looked up because the two refer to each other."""
        raise NotImplementedError

    def _set_geometry(self, ndim, stride, pad, dilate, groups):
        self.ndim: int = ndim
        self.stride: tuple[int, ...] = conv_nd.as_tuple(stride, ndim)
        self.pad: tuple[int, ...] = conv_nd.as_tuple(pad, ndim)
        self.dilate: tuple[int, ...] = conv_nd.as_tuple(dilate, ndim)
        if min(self.dilate, default=1) < 1:
            raise ValueError(f'dilate must be positive, got {dilate}')
        self.groups: int = groups

    def transposed(self, size):
        func = self.transposed_class.__new__(self.transposed_class)
        func._set_geometry(self.ndim, self.stride, self.pad, self.dilate, self.groups)
        func.outs = size
        return func

    def _plan_of(self, x_shape, w_shape, outs, array):
        return get_plan(
            x_shape,
            w_shape,
            outs,
            self.stride,
            self.pad,
            self.dilate,
            self.groups,
            isinstance(array, numpy.ndarray),
        )

    def _check_outs(self, outs):
        if any([out <= 0 for out in outs]):
            raise AssertionError(f'Output size should be positive, but is {outs}')

    def _chainerx_supports(self, inputs):
        return len({x.dtype for x in inputs}) == 1


if TYPE_CHECKING:
    _Mixed = ConvolutionBase
else:
    # The mix-in comes before the functions: from a base of its own it would have other kernels.
    _Mixed = object


class TwoDimensional(_Mixed):
    """Mix-in with attributes per axis for functions of images."""

    kh: property = property(lambda self: self.inputs[1].shape[2])
    kw: property = property(lambda self: self.inputs[1].shape[3])
    sy: property = property(lambda self: self.stride[0])
    sx: property = property(lambda self: self.stride[1])
    ph: property = property(lambda self: self.pad[0])
    pw: property = property(lambda self: self.pad[1])
    dy: property = property(lambda self: self.dilate[0])
    dx: property = property(lambda self: self.dilate[1])

    def _set_geometry(self, ndim, stride, pad, dilate, groups):
        super()._set_geometry(
            ndim, pair('stride', stride), pair('pad', pad), pair('dilate', dilate), groups
        )
