"""Patches of images as matrices, for convolution and pooling.

This module has the functions for two dimensions, :mod:`chainer.utils.conv_nd` those for any number
of dimensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.utils import _patches
from chainer.utils._patches import (
    get_conv_outsize as get_conv_outsize,
    get_deconv_outsize as get_deconv_outsize,
)

if TYPE_CHECKING:
    from chainer._core.settings.types import NdArray


def im2col_cpu(
    img: NdArray,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    pval: float = 0,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> NdArray:
    """Collects the patches of images.

    Args:
        img: Images of shape ``(n, c, h, w)`` and any dtype.
        kh (int): Height of the kernel.
        kw (int): Width of the kernel.
        sy (int): Vertical stride.
        sx (int): Horizontal stride.
        ph (int): Vertical padding.
        pw (int): Horizontal padding.
        pval: Value of the padding.
        cover_all (bool): Whether the patches cover all pixels.
        dy (int): Vertical dilation.
        dx (int): Horizontal dilation.
        out_h (int): Height of the output, if it differs from the default.
        out_w (int): Width of the output, if it differs from the default.

    Returns:
        Array of shape ``(n, c, kh, kw, out_h, out_w)``.

    Raises:
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> from chainer.utils import conv
        >>> x = np.arange(9).reshape(1, 1, 3, 3)
        >>> col = conv.im2col_cpu(x, 2, 2, 1, 1, 0, 0)
        >>> col.shape
        (1, 1, 2, 2, 2, 2)
        >>> col[0, 0, :, :, 0, 0]  # the patch at the upper left
        array([[0, 1],
               [3, 4]])

    """
    h, w = img.shape[2:]
    if out_h is None:
        out_h = get_conv_outsize(h, kh, sy, ph, cover_all, dy)
    if out_w is None:
        out_w = get_conv_outsize(w, kw, sx, pw, cover_all, dx)
    return _patches.im2col(
        img, (kh, kw), (sy, sx), (ph, pw), pval, cover_all, (dy, dx), (out_h, out_w)
    )


def im2col_gpu(
    img: NdArray,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> NdArray:
    """Collects the patches of images, padded with zeros: alias of :func:`im2col`.

    Returns:
        Array of shape ``(n, c, kh, kw, out_h, out_w)``. It is on the device
        of ``img``.

    .. admonition:: Example

        >>> from chainer.utils import conv
        >>> conv.im2col_gpu(np.zeros((1, 3, 8, 8)), 3, 3, 2, 2, 1, 1).shape
        (1, 3, 3, 3, 4, 4)

    """
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


def im2col(
    img: NdArray,
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    cover_all: bool = False,
    dy: int = 1,
    dx: int = 1,
    out_h: int | None = None,
    out_w: int | None = None,
) -> NdArray:
    """Collects the patches of images, padded with zeros.

    It works for arrays of any module.

    Args:
        img: Images of shape ``(n, c, h, w)`` and any dtype.
        kh (int): Height of the kernel.
        kw (int): Width of the kernel.
        sy (int): Vertical stride.
        sx (int): Horizontal stride.
        ph (int): Vertical padding.
        pw (int): Horizontal padding.
        cover_all (bool): Whether the patches cover all pixels.
        dy (int): Vertical dilation.
        dx (int): Horizontal dilation.
        out_h (int): Height of the output, if it differs from the default.
        out_w (int): Width of the output, if it differs from the default.

    Returns:
        Array of shape ``(n, c, kh, kw, out_h, out_w)``, of the module and
        dtype of ``img``.

    Raises:
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> from chainer.utils import conv
        >>> conv.im2col(np.zeros((1, 3, 8, 8)), 3, 3, 2, 2, 1, 1).shape
        (1, 3, 3, 3, 4, 4)

    """
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


def col2im_cpu(
    col: NdArray, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1
) -> NdArray:
    """Sums patches at their positions in the images: the transpose of :func:`im2col`.

    Args:
        col: Patches of shape ``(n, c, kh, kw, out_h, out_w)``.
        sy (int): Vertical stride.
        sx (int): Horizontal stride.
        ph (int): Vertical padding.
        pw (int): Horizontal padding.
        h (int): Height of the images.
        w (int): Width of the images.
        dy (int): Vertical dilation.
        dx (int): Horizontal dilation.

    Returns:
        Array of shape ``(n, c, h, w)``.

    .. admonition:: Example

        >>> from chainer.utils import conv
        >>> col = np.ones((1, 1, 2, 2, 2, 2))
        >>> conv.col2im_cpu(col, 1, 1, 0, 0, 3, 3)[0, 0]  # patches that a pixel belongs to
        array([[1., 2., 1.],
               [2., 4., 2.],
               [1., 2., 1.]])

    """
    return _patches.col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


def col2im_gpu(
    col: NdArray, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1
) -> NdArray:
    """Sums patches at their positions in the images: alias of :func:`col2im`.

    Returns:
        Array of shape ``(n, c, h, w)``. It is on the device of ``col``.

    .. admonition:: Example

        >>> from chainer.utils import conv
        >>> conv.col2im_gpu(np.zeros((1, 3, 3, 3, 4, 4)), 2, 2, 1, 1, 8, 8).shape
        (1, 3, 8, 8)

    """
    return _patches.col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


def col2im(
    col: NdArray, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1
) -> NdArray:
    """Sums patches at their positions in the images: the transpose of :func:`im2col`.

    It works for arrays of any module.

    Args:
        col: Patches of shape ``(n, c, kh, kw, out_h, out_w)``.
        sy (int): Vertical stride.
        sx (int): Horizontal stride.
        ph (int): Vertical padding.
        pw (int): Horizontal padding.
        h (int): Height of the images.
        w (int): Width of the images.
        dy (int): Vertical dilation.
        dx (int): Horizontal dilation.

    Returns:
        Array of shape ``(n, c, h, w)``, of the module and dtype of ``col``.

    .. admonition:: Example

        >>> from chainer.utils import conv
        >>> conv.col2im(np.zeros((1, 3, 3, 3, 4, 4)), 2, 2, 1, 1, 8, 8).shape
        (1, 3, 8, 8)

    """
    return _patches.col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))
