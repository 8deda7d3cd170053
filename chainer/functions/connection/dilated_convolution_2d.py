"""Two-dimensional dilated convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.connection.convolution_2d import convolution_2d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def dilated_convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    dilate: int | Sequence[int] = 1,
    cover_all: bool = False,
) -> Variable:
    """Two-dimensional convolution with a dilated kernel; see :func:`convolution_2d`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c_I, h, w)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_O, c_I, kh, kw)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or pair of int): Stride.
        pad (int or pair of int): Width of the padding on each side.
        dilate (int or pair of int): Distance of the pixels under the kernel.
        cover_all (bool): Whether every pixel of the input contributes.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, h_O, w_O)`` and of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty.

    See: F. Yu and V. Koltun, Multi-Scale Context Aggregation by Dilated Convolutions, ICLR 2016.

    .. seealso:: :class:`~chainer.links.DilatedConvolution2D`

    .. admonition:: Example

        >>> x = np.ones((1, 3, 9, 9), np.float32)
        >>> W = np.ones((2, 3, 3, 3), np.float32)
        >>> F.dilated_convolution_2d(x, W, dilate=3).shape
        (1, 2, 3, 3)

    """
    return convolution_2d(x, W, b, stride, pad, cover_all, dilate=dilate)
