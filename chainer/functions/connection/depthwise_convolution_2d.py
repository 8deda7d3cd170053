"""Two-dimensional depthwise convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.connection.convolution_2d import convolution_2d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def depthwise_convolution_2d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
) -> Variable:
    """Convolution of each channel of images with ``d`` separate kernels.

    .. math::

        y_{c d + k,\\, i, j} = b_{c d + k} + \\sum_{u, v} W_{k, c, u, v} \\,
            x_{c,\\, i s_h + u - p_h,\\, j s_w + v - p_w}

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c_I, h, w)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(d, c_I, kh, kw)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_I * d,)``, of the
            dtype of ``x`` (optional).
        stride (int or pair of int): Stride :math:`s`.
        pad (int or pair of int): Width :math:`p` of the padding on each side.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_I * d, h_O, w_O)``, where the ``d`` outputs of
        a channel are neighbours; see :func:`convolution_2d` for the size and the dtype.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty.

    See: L. Sifre, Rigid-motion scattering for image classification, Ph.D. thesis, 2014.

    .. seealso:: :class:`~chainer.links.DepthwiseConvolution2D`

    .. admonition:: Example

        >>> x = np.ones((2, 3, 4, 7), np.float32)
        >>> W = np.ones((2, 3, 3, 3), np.float32)
        >>> F.depthwise_convolution_2d(x, W).shape
        (2, 6, 2, 5)

    """
    depth, channels, kh, kw = W.shape
    W = reshape(transpose(W, (1, 0, 2, 3)), (depth * channels, 1, kh, kw))
    return convolution_2d(x, W, b, stride, pad, groups=channels)
