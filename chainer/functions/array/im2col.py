"""Patches of images."""

from __future__ import annotations

import chainerx
from chainer._fallback import Fallback
from chainer.function_node import FunctionNode
from chainer.utils import conv, type_check


def _pair(x):
    return x if hasattr(x, '__getitem__') else (x, x)


class Im2Col(FunctionNode):
    """Collects the patches of images."""

    def __init__(self, ksize, stride, pad, cover_all, dilate):
        self.kh, self.kw = _pair(ksize)
        self.sy, self.sx = _pair(stride)
        self.ph, self.pw = _pair(pad)
        self.dy, self.dx = _pair(dilate)
        self.cover_all = cover_all

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)

    def forward(self, inputs):
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

    def forward_chainerx(self, inputs):
        (x,) = inputs
        out_h, out_w = [
            conv.get_conv_outsize(size, k, s, p, self.cover_all, d)
            for size, k, s, p, d in (
                (x.shape[2], self.kh, self.sy, self.ph, self.dy),
                (x.shape[3], self.kw, self.sx, self.pw, self.dx),
            )
        ]
        if x.size == 0 or out_h <= 0 or out_w <= 0:
            return Fallback
        last_y = (self.kh - 1) * self.dy + (out_h - 1) * self.sy + 1
        last_x = (self.kw - 1) * self.dx + (out_w - 1) * self.sx + 1
        x = chainerx.pad(
            x,
            [
                (0, 0),
                (0, 0),
                (self.ph, max(last_y - x.shape[2] - self.ph, 0)),
                (self.pw, max(last_x - x.shape[3] - self.pw, 0)),
            ],
        )
        taps = [
            x[
                :,
                :,
                i * self.dy : i * self.dy + (out_h - 1) * self.sy + 1 : self.sy,
                j * self.dx : j * self.dx + (out_w - 1) * self.sx + 1 : self.sx,
            ]
            for i in range(self.kh)
            for j in range(self.kw)
        ]
        return (chainerx.stack(taps, axis=2).reshape(len(x), x.shape[1] * len(taps), out_h, out_w),)

    def backward(self, target_input_indexes, grad_outputs):
        return Im2ColGrad(self, self.inputs[0].shape).apply(grad_outputs)

    def _backward_arrays(self, target_input_indexes, grad_outputs):
        return Im2ColGrad(self, self.inputs[0].shape).forward(grad_outputs)


class Im2ColGrad(FunctionNode):
    """Sums patches at their positions in the images."""

    def __init__(self, im2col, in_shape):
        self._args = (
            (im2col.kh, im2col.kw),
            (im2col.sy, im2col.sx),
            (im2col.ph, im2col.pw),
            im2col.cover_all,
            (im2col.dy, im2col.dx),
        )
        self._in_shape = in_shape

    def forward(self, inputs):
        (gy,) = inputs
        ksize, stride, pad, _, dilate = self._args
        n, c, h, w = self._in_shape
        col = gy.reshape(n, c, *ksize, *gy.shape[2:])
        return (conv.col2im(col, *stride, *pad, h, w, *dilate),)

    def backward(self, target_input_indexes, grad_outputs):
        return Im2Col(*self._args).apply(grad_outputs)


def im2col(x, ksize, stride=1, pad=0, cover_all=False, dilate=1):
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
