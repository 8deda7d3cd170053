"""Nodes of the convolution and the deconvolution, whose gradients are each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.names.set_module import set_module
from chainer.functions.connection._convolution import Convolution, Deconvolution
from chainer.functions.connection._convolution_base import TwoDimensional
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence


@set_module('chainer.functions.connection.convolution_2d')
class Convolution2DFunction(TwoDimensional, Convolution):
    """Convolution of images."""

    @property
    def transposed_class(self) -> type[Deconvolution2DFunction]:
        return Deconvolution2DFunction

    def __init__(
        self,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        cover_all: bool = False,
        **kwargs: Any,
    ) -> None:
        dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1))
        self._set_geometry(2, stride, pad, dilate, groups)
        self.cover_all = cover_all


@set_module('chainer.functions.connection.deconvolution_2d')
class Deconvolution2DFunction(TwoDimensional, Deconvolution):
    """Transpose of the convolution of images."""

    outh: property = property(lambda self: None if self.outs is None else self.outs[0])
    outw: property = property(lambda self: None if self.outs is None else self.outs[1])

    @property
    def transposed_class(self) -> type[Convolution2DFunction]:
        return Convolution2DFunction

    def __init__(
        self,
        stride: int | Sequence[int] = 1,
        pad: int | Sequence[int] = 0,
        outsize: Sequence[int | None] | None = None,
        **kwargs: Any,
    ) -> None:
        dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1))
        self._set_geometry(2, stride, pad, dilate, groups)
        if outsize is not None:
            self.outs: tuple[int | None, ...] | None = tuple(outsize)

    def _check_outs(self, outs):
        for out, axis in zip(outs, ('Height', 'Width')):
            if out <= 0:
                raise RuntimeError(f'{axis} in the output should be positive, but is {out}')
