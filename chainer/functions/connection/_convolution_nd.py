"""Nodes of the convolution and the deconvolution, whose gradients are each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.names.set_module import set_module
from chainer.functions.connection._convolution import Convolution, Deconvolution

if TYPE_CHECKING:
    from collections.abc import Sequence


@set_module('chainer.functions.connection.convolution_nd')
class ConvolutionND(Convolution):
    """Convolution with ``ndim`` spatial dimensions."""

    @property
    def transposed_class(self) -> type[DeconvolutionND]:
        return DeconvolutionND

    def __init__(
        self,
        ndim: int,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        cover_all: bool = False,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        self._set_geometry(ndim, stride, pad, dilate, groups)
        self.cover_all = cover_all


@set_module('chainer.functions.connection.deconvolution_nd')
class DeconvolutionND(Deconvolution):
    """Transpose of the convolution with ``ndim`` spatial dimensions."""

    @property
    def transposed_class(self) -> type[ConvolutionND]:
        return ConvolutionND

    def __init__(
        self,
        ndim: int,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        outsize: tuple[int, ...] | None = None,
        dilate: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> None:
        self._set_geometry(ndim, stride, pad, dilate, groups)
        if outsize is not None:
            assert len(outsize) == ndim, f'outsize should have {ndim} elements: {outsize}'
            self.outs: tuple[int | None, ...] | None = tuple(outsize)
