"""Two-dimensional convolution with a separate weight for every pixel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import chainerx
from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.functions._arguments import pair
from chainer.functions._base import Operation
from chainer.functions.array.im2col import Im2Col, Im2ColGrad
from chainer.utils import conv, type_check
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class LocalConvolution2DFunction(Operation):
    """Convolution of images with position-dependent kernels.

    The images become matrices with one row per position: (h_O * w_O, n, c_I * kh * kw).
    """

    sy: int
    sx: int

    def __init__(self, stride: int | Sequence[int] = 1) -> None:
        self.sy, self.sx = pair('stride', stride)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect_arguments((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f',
            w_type.dtype.kind == 'f',
            x_type.ndim == 4,
            w_type.ndim == 6,
            x_type.shape[1] == w_type.shape[3],
            conv.get_conv_outsize(x_type.shape[2], w_type.shape[4], self.sy, 0) == w_type.shape[1],
            conv.get_conv_outsize(x_type.shape[3], w_type.shape[5], self.sx, 0) == w_type.shape[2],
        )
        if n_in == 3:
            b_type = in_types[2]
            type_check.expect_arguments((b_type,), ('b',))
            type_check.expect(
                b_type.dtype.kind == 'f', b_type.ndim == 3, b_type.shape == w_type.shape[:3]
            )

    def _im2col(self, w_shape):
        return Im2Col(w_shape[4:], (self.sy, self.sx), 0, False, 1)

    @staticmethod
    def _rows(y):
        """Patches or outputs as (positions, n, channels)."""
        return y.reshape(*y.shape[:2], math.prod(y.shape[2:])).transpose(2, 0, 1)

    @staticmethod
    def _weight_matrices(W):
        """Weights as (positions, outputs, inputs)."""
        return W.reshape(len(W), math.prod(W.shape[1:3]), math.prod(W.shape[3:])).transpose(1, 0, 2)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1))
        return (self._convolve(inputs, cuda.get_array_module(*inputs), Im2Col.forward),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if inputs[0].size == 0:
            return Fallback('no elements')
        return (self._convolve(inputs, chainerx, Im2Col.forward_chainerx),)

    def _convolve(self, inputs, xp, apply):
        x, W = inputs[:2]
        col = self._rows(apply(self._im2col(W.shape), (x,))[0])
        y = xp.matmul(col, self._weight_matrices(W).transpose(0, 2, 1))
        y = y.transpose(1, 2, 0).reshape(len(x), *W.shape[:3])
        y = y + inputs[2] if len(inputs) == 3 else y
        return _cast(y, x.dtype)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, W = xs
        (gy,) = gys
        im2col = self._im2col(W.shape)
        rows = self._rows(gy)
        gxs = []
        for i in targets:
            if i == 0:
                col = m.matmul(rows, self._weight_matrices(W)).transpose(1, 2, 0)
                col = col.reshape(*col.shape[:2], *gy.shape[2:])
                gxs.append(m.cast(m.apply(Im2ColGrad(im2col, x.shape), (col,))[0], x.dtype))
            elif i == 1:
                (col,) = m.apply(im2col, (x,))
                gW = m.matmul(rows.transpose(0, 2, 1), self._rows(col))
                gxs.append(m.cast(gW.transpose(1, 0, 2).reshape(W.shape), W.dtype))
            else:
                gxs.append(m.cast(m.sum(gy, axis=0), self.inputs[2].dtype))
        return gxs


def local_convolution_2d(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None, stride: int | Sequence[int] = 1
) -> Variable:
    """Two-dimensional convolution without weight sharing between positions.

    .. math::

        y_{o, i, j} = b_{o, i, j} + \\sum_{c, u, v} W_{o, i, j, c, u, v} \\,
            x_{c,\\, i s_h + u,\\, j s_w + v}

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c_I, h, w)``.
        W (:class:`~chainer.Variable` or array): Weight of shape
            ``(c_O, h_O, w_O, c_I, kh, kw)``, of the dtype of ``x``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O, h_O, w_O)``, of the
            dtype of ``x`` (optional).
        stride (int or pair of int): Stride.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, h_O, w_O)``, where ``h_O`` is
        ``(h - kh) // sh + 1``; its dtype is that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.LocalConvolution2D`

    .. admonition:: Example

        >>> x = np.ones((1, 1, 2, 3), np.float32)
        >>> W = np.ones((1, 1, 2, 1, 2, 2), np.float32)
        >>> W[:, :, 1] = 10
        >>> F.local_convolution_2d(x, W).array
        array([[[[ 4., 40.]]]], dtype=float32)

    """
    args = (x, W) if b is None else (x, W, b)
    return LocalConvolution2DFunction(stride).apply(args)[0]
