"""Sampling of two-dimensional deformable convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer._core.names.namespace import F
from chainer.functions._arguments import pair
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def deformable_convolution_2d_sampler(
    x: VariableLike,
    offset: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
) -> Variable:
    """Two-dimensional convolution with given offsets of the samples.

    :func:`convolution_2d` reads the pixel at row :math:`i s_h + u - p_h` and column
    :math:`j s_w + v - p_w`. This function adds the offset for :math:`(u, v)` at :math:`(i, j)`
    to the position, and reads between pixels with bilinear interpolation.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c_I, h, w)``; other inputs are of the same dtype.
        offset (:class:`~chainer.Variable` or array): Offsets of shape
            ``(n, 2 * kh * kw, h_O, w_O)``: the horizontal ones of all positions in the kernel,
            then the vertical ones.
        W (:class:`~chainer.Variable` or array): Weight of shape ``(c_O, c_I, kh, kw)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)`` (optional).
        stride (int or pair of int): Stride.
        pad (int or pair of int): Width of the padding on each side.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, h_O, w_O)``, of the dtype of the inputs.

    Raises:
        ValueError: If ``offset`` does not have ``2 * kh * kw`` channels.
        ~chainer.utils.type_check.InvalidType: If other shapes or dtypes do not fit.

    See: J. Dai et al., Deformable Convolutional Networks, ICCV 2017.

    .. seealso:: :class:`~chainer.links.DeformableConvolution2D`

    .. admonition:: Example

        >>> x = np.array([[[[0, 10, 20, 30], [0, 10, 20, 30]]]], np.float32)
        >>> offset = np.zeros((1, 2, 2, 4), np.float32)
        >>> offset[:, 0] = 0.5
        >>> W = np.ones((1, 1, 1, 1), np.float32)
        >>> F.deformable_convolution_2d_sampler(x, offset, W).array[0, 0, 0].round(3)
        array([ 5., 15., 25., 15.], dtype=float32)

    """
    sy, sx = pair('stride', stride)
    ph, pw = pair('pad', pad)
    offset = as_variable(offset)
    n_out, n_in, kh, kw = W.shape
    n, _, h, w = x.shape
    n_offsets, out_h, out_w = offset.shape[1:]
    if n_offsets != 2 * kh * kw:
        raise ValueError(
            f'offset must have 2 * kh * kw = {2 * kh * kw} channels, but has {n_offsets}'
        )

    # Places without offsets, as a convolution has them, in the padded image.
    rows = numpy.arange(kh)[:, None, None, None] + sy * numpy.arange(out_h)[:, None]
    columns = numpy.arange(kw)[:, None, None] + sx * numpy.arange(out_w)
    shape = kh, kw, out_h, out_w
    places = numpy.stack([numpy.broadcast_to(a, shape) for a in (columns, rows)])
    places = places.reshape(1, n_offsets, out_h, out_w).astype(offset.dtype)
    places = offset.device.send(places)
    grid = F.reshape(offset + places, (n, 2, kh * kw, out_h * out_w))
    # The sampler counts from -1 to 1.
    last = numpy.array([w + 2 * pw - 1, h + 2 * ph - 1], offset.dtype).reshape(1, 2, 1, 1)
    grid = grid / offset.device.send(last) * 2 - 1

    if ph or pw:
        x = F.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)), 'constant')
    samples = F.spatial_transformer_sampler(x, grid)
    samples = F.reshape(samples, (n, n_in * kh * kw, out_h, out_w))
    y = F.convolution_2d(samples, F.reshape(W, (n_out, n_in * kh * kw, 1, 1)))
    return y if b is None else F.bias(y, b)
