"""Upsampling of images to the positions of maxima."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions.pooling._windows import LinearMap
from chainer.functions.pooling.unpooling_2d import _Unpooling2D
from chainer.utils import type_check
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Upsampling2D(_Unpooling2D):
    """Adds each element to one position of its window.

    Attributes:
        indexes (array of int): Positions within the windows.

    """

    def __init__(
        self,
        indexes: NdArray,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: int | Sequence[int] = 0,
        outsize: Sequence[int] | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ksize, stride, pad, outsize, cover_all)
        self.indexes: NdArray = getattr(indexes, 'array', indexes)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        type_check.expect(in_types[0].shape == self.indexes.shape)

    def _indexes_like(self, x):
        return cuda.get_array_module(x).asarray(backend.from_chx(self.indexes))

    def _scatter(self, x):
        return self._windows(x.shape[2:]).scatter(x, self._indexes_like(x))

    def _gather(self, y):
        return self._windows(self.indexes.shape[2:]).gather(y, self._indexes_like(y))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (self._scatter(inputs[0]),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        n, c, h, w = x.shape
        indexes = cuda.to_cpu(self.indexes)
        places, exist = self._windows((h, w)).positions(indexes)
        outs: Any = self.outs
        size = math.prod(outs)
        # Values outside of their image go to an element behind the last one.
        places = numpy.where(
            exist, places + numpy.arange(n * c).reshape(n, c, 1) * size, n * c * size
        )
        y = chainerx.zeros((n * c * size + 1,), x.dtype, device=x.device)
        y = _internal.add_at(y, sent_like(x, places), x.reshape(places.shape))
        return (y[:-1].reshape(n, c, *outs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(LinearMap(self._gather, self._scatter), gys)


def upsampling_2d(
    x: VariableLike,
    indexes: NdArray,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: Sequence[int] | None = None,
    cover_all: bool = True,
) -> Variable:
    """Upsampling: moves each pixel to the position of its window's maximum, among zeros.

    With the arguments of a max pooling, it is a partial inverse.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        indexes (array of int): Positions within the windows, numbered in row-major order, of the
            shape of ``x``; :func:`max_pooling_2d` returns them with ``return_indices``.
        ksize (int or pair of int): Size of the windows.
        stride (int, pair of int or None): Distance of the windows (default: ``ksize``).
        pad (int or pair of int): Width of the border cut from the output.
        outsize (None or pair of int): Size of the output.
        cover_all (bool): Whether the last windows may extend beyond the output.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, h_O, w_O)``; see :func:`unpooling_nd`. Its
        dtype is that of ``x``. Values at the same position add up.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not four-dimensional and of floating
            point, or its shape does not fit ``indexes`` or ``outsize``.

    .. admonition:: Example

        >>> x = np.array([[[[1, 4, 2, 3], [2, 0, 5, 1]]]], np.float32)
        >>> y, indexes = F.max_pooling_2d(x, 2, return_indices=True)
        >>> F.upsampling_2d(y, indexes, 2, outsize=(2, 4)).array[0, 0]
        array([[0., 4., 0., 0.],
               [0., 0., 5., 0.]], dtype=float32)

    """
    return Upsampling2D(indexes, ksize, stride, pad, outsize, cover_all).apply((x,))[0]
