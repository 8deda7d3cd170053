"""Patches of images as matrices, for convolution and pooling.

This module has the functions for two dimensions, :mod:`chainer.utils.conv_nd` those for any number
of dimensions. Both use the private functions of this module.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy

from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer._core.settings.types import NdArray


def get_conv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """Calculates the output size of a convolution along an axis.

    Args:
        size (int): Size of the input.
        k (int): Size of the kernel.
        s (int): Stride.
        p (int): Padding on each side.
        cover_all (bool): Whether outputs cover all input elements.
        d (int): Dilation.

    Returns:
        int: Output size.

    .. admonition:: Example

        >>> from chainer import utils
        >>> utils.get_conv_outsize(7, 3, 2, 1)
        4
        >>> utils.get_conv_outsize(8, 3, 2, 1), utils.get_conv_outsize(8, 3, 2, 1, cover_all=True)
        (4, 5)

    """
    dk = k + (k - 1) * (d - 1)
    if cover_all:
        return (size + p * 2 - dk + s - 1) // s + 1
    return (size + p * 2 - dk) // s + 1


def get_deconv_outsize(
    size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1
) -> int:
    """Calculates the output size of a deconvolution along an axis.

    Args:
        size (int): Size of the input.
        k (int): Size of the kernel.
        s (int): Stride.
        p (int): Padding on each side of the output.
        cover_all (bool): Whether the corresponding convolution covers all input elements.
        d (int): Dilation.

    Returns:
        int: Output size: the smallest input size of the corresponding convolution.

    .. admonition:: Example

        >>> from chainer import utils
        >>> utils.get_deconv_outsize(4, 3, 2, 1)
        7

    """
    dk = k + (k - 1) * (d - 1)
    if cover_all:
        return s * (size - 1) + dk - s + 1 - 2 * p
    return s * (size - 1) + dk - 2 * p


def _im2col(img, ksize, stride, pad, pval, cover_all, dilate, outs=None):
    """Collects patches: (n, c, *in) -> (n, c, *ksize, *outs)."""
    n, c, *dims = img.shape
    if outs is None:
        outs = tuple(
            [
                get_conv_outsize(*row, cover_all, d)
                for *row, d in zip(dims, ksize, stride, pad, dilate)
            ]
        )
    assert all(out > 0 for out in outs), (
        f'Each size of the output should be positive: {outs} (input {tuple(dims)}, '
        f'kernel {tuple(ksize)}, stride {tuple(stride)}, pad {tuple(pad)}, '
        f'dilation {tuple(dilate)})'
    )

    # What the patches reach beyond the image, on either side.
    afters = [
        max((out - 1) * s + (k - 1) * d + 1 - dim - p, 0)
        for out, s, k, d, dim, p in zip(outs, stride, ksize, dilate, dims, pad)
    ]
    xp = cuda.get_array_module(img)
    if any(pad) or any(afters):
        shape = (n, c, *[p + dim + a for p, dim, a in zip(pad, dims, afters)])
        # Zeros come for free with the memory.
        padded = xp.full(shape, pval, img.dtype) if pval else xp.zeros(shape, img.dtype)
        padded[(..., *[slice(p, p + dim) for p, dim in zip(pad, dims)])] = img
        img = padded
    else:
        img = xp.ascontiguousarray(img)

    steps = img.strides[2:]
    shape = (n, c, *ksize, *outs)
    strides = (
        *img.strides[:2],
        *[x * d for x, d in zip(steps, dilate)],
        *[x * s for x, s in zip(steps, stride)],
    )
    return _as_strided(img, shape, strides).copy()


def _as_strided(array, shape, strides):
    """Returns a view of the memory of a C-contiguous array."""
    if isinstance(array, numpy.ndarray):
        # The same as `as_strided`, at a tenth of its cost.
        return numpy.ndarray(shape, array.dtype, array, 0, strides)
    xp = cuda.get_array_module(array)
    return xp.lib.stride_tricks.as_strided(array, shape, strides)


def _col2im(col, stride, pad, dims, dilate):
    """Sums patches at their positions: (n, c, *ksize, *outs) -> (n, c, *dims)."""
    n, c = col.shape[:2]
    ndim = len(dims)
    ksize = col.shape[2 : 2 + ndim]
    outs = col.shape[2 + ndim :]
    img = cuda.get_array_module(col).zeros((n, c, *dims), col.dtype)
    axes = [_get_taps(*row) for row in zip(ksize, stride, pad, dims, dilate, outs)]
    everything = slice(None)
    for taps in itertools.product(*axes):
        indexes, sources, targets = zip(*taps)
        # `img[...] += ...` would assign the sum once more.
        target = img[(everything, everything, *targets)]
        target += col[(everything, everything, *indexes, *sources)]
    return img


def _get_taps(k, s, p, dim, d, out):
    """Lists the positions of a kernel along an axis.

    For each position, gives the outputs where it is inside the image and the matching pixels.
    """
    taps = []
    for i in range(k):
        offset = i * d - p
        start = -(offset // s) if offset < 0 else 0
        stop = min(-((offset - dim) // s), out)
        if start < stop:
            first = start * s + offset
            taps.append((i, slice(start, stop), slice(first, first + (stop - start) * s, s)))
    return taps


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
    return _im2col(img, (kh, kw), (sy, sx), (ph, pw), pval, cover_all, (dy, dx), (out_h, out_w))


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
    return _col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


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
    return _col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


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
    return _col2im(col, (sy, sx), (ph, pw), (h, w), (dy, dx))
