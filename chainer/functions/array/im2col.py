"""Patches of images."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import Fallback
from chainer.functions._arguments import pair
from chainer.functions._base import Operation
from chainer.utils import conv, type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Im2Col(Operation):
    """Collects the patches of images."""

    kh: int
    kw: int
    sy: int
    sx: int
    ph: int
    pw: int
    dy: int
    dx: int

    # NumPy's code copies once, ChainerX twice.
    _kernels = NO_KERNELS

    def __init__(
        self,
        ksize: int | Sequence[int],
        stride: int | Sequence[int],
        pad: int | Sequence[int],
        cover_all: bool,
        dilate: int | Sequence[int],
    ) -> None:
        self.kh, self.kw = pair('ksize', ksize)
        self.sy, self.sx = pair('stride', stride)
        self.ph, self.pw = pair('pad', pad)
        self.dy, self.dx = pair('dilate', dilate)
        self.cover_all = cover_all

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        y = conv.im2col(
            inputs[0],
            self.kh,
            self.kw,
            self.sy,
            self.sx,
            self.ph,
            self.pw,
            self.cover_all,
            self.dy,
            self.dx,
        )
        n, c, kh, kw, out_h, out_w = y.shape
        return (y.reshape(n, c * kh * kw, out_h, out_w),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        out_h, out_w = [
            conv.get_conv_outsize(size, k, s, p, self.cover_all, d)
            for size, k, s, p, d in (
                (x.shape[2], self.kh, self.sy, self.ph, self.dy),
                (x.shape[3], self.kw, self.sx, self.pw, self.dx),
            )
        ]
        if x.size == 0 or out_h <= 0 or out_w <= 0:
            return Fallback('no patches')
        taps = self._taps(x, out_h, out_w)
        return (chainerx.stack(taps, axis=2).reshape(len(x), x.shape[1] * len(taps), out_h, out_w),)

    def _taps(self, x, out_h, out_w):
        """For each element of the window, what it takes from the padded images."""
        height, width = (out_h - 1) * self.sy + 1, (out_w - 1) * self.sx + 1
        after_y = (self.kh - 1) * self.dy + height - x.shape[2] - self.ph
        after_x = (self.kw - 1) * self.dx + width - x.shape[3] - self.pw
        pads = [(0, 0), (0, 0), (self.ph, max(after_y, 0)), (self.pw, max(after_x, 0))]
        x = chainerx.pad(x, pads)
        places = itertools.product(range(self.kh), range(self.kw))
        corners = [(i * self.dy, j * self.dx) for i, j in places]
        return [
            x[:, :, top : top + height : self.sy, left : left + width : self.sx]
            for top, left in corners
        ]

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(Im2ColGrad(self, self.inputs[0].shape), gys)


class Im2ColGrad(Operation):
    """Sums patches at their positions in the images."""

    def __init__(self, im2col: Im2Col, in_shape: tuple[int, ...]) -> None:
        self._args = (
            (im2col.kh, im2col.kw),
            (im2col.sy, im2col.sx),
            (im2col.ph, im2col.pw),
            im2col.cover_all,
            (im2col.dy, im2col.dx),
        )
        self._in_shape = in_shape

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (gy,) = inputs
        ksize, stride, pad, _, dilate = self._args
        n, c, h, w = self._in_shape
        col = gy.reshape(n, c, *ksize, *gy.shape[2:])
        return (conv.col2im(col, *stride, *pad, h, w, *dilate),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(Im2Col(*self._args), gys)


def im2col(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
) -> Variable:
    """Collects the patches of images that a convolution reads.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        ksize (int or pair of int): Size of a patch, ``(kh, kw)``.
        stride (int or pair of int): Stride.
        pad (int or pair of int): Width of the zero padding.
        cover_all (bool): Whether the patches cover all pixels.
        dilate (int or pair of int): Distance of the pixels of a patch.

    Returns:
        ~chainer.Variable: Patches of shape ``(n, c * kh * kw, out_h, out_w)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not four-dimensional and floating
            point.

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
        >>> F.im2col(x, ksize=2).array[0, :, 0]
        array([[0., 1.],
               [1., 2.],
               [3., 4.],
               [4., 5.]], dtype=float32)

    """
    return Im2Col(ksize, stride, pad, cover_all, dilate).apply((x,))[0]
