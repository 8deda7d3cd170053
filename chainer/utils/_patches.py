"""Patches of images of any number of dimensions: how many there are, views of them, their sums."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy

from chainer._core.names.set_module import set_module
from chainer.backends import cuda

if TYPE_CHECKING:
    pass


@set_module('chainer.utils.conv')
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


@set_module('chainer.utils.conv')
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


def im2col(img, ksize, stride, pad, pval, cover_all, dilate, outs=None):
    """Collects patches: (n, c, *in) -> (n, c, *ksize, *outs)."""
    n, c, *dims = img.shape
    if outs is None:
        rows = zip(dims, ksize, stride, pad, [cover_all] * len(dims), dilate)
        outs = tuple([get_conv_outsize(*row) for row in rows])
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
    img = _padded(img, pad, afters, pval)
    steps = img.strides[2:]
    shape = (n, c, *ksize, *outs)
    strides = (
        *img.strides[:2],
        *[x * d for x, d in zip(steps, dilate)],
        *[x * s for x, s in zip(steps, stride)],
    )
    return as_strided(img, shape, strides).copy()


def _padded(img, befores, afters, value):
    xp = cuda.get_array_module(img)
    if not (any(befores) or any(afters)):
        return xp.ascontiguousarray(img)
    n, c, *dims = img.shape
    shape = (n, c, *[before + dim + after for before, dim, after in zip(befores, dims, afters)])
    # Zeros come for free with the memory.
    padded = xp.full(shape, value, img.dtype) if value else xp.zeros(shape, img.dtype)
    padded[(..., *[slice(before, before + dim) for before, dim in zip(befores, dims)])] = img
    return padded


def as_strided(array, shape, strides):
    """Returns a view of the memory of a C-contiguous array."""
    if isinstance(array, numpy.ndarray):
        # The same as `as_strided`, at a tenth of its cost.
        return numpy.ndarray(shape, array.dtype, array, 0, strides)
    xp = cuda.get_array_module(array)
    return xp.lib.stride_tricks.as_strided(array, shape, strides)


def col2im(col, stride, pad, dims, dilate):
    """Sums patches at their positions: (n, c, *ksize, *outs) -> (n, c, *dims)."""
    n, c = col.shape[:2]
    ndim = len(dims)
    ksize = col.shape[2 : 2 + ndim]
    outs = col.shape[2 + ndim :]
    img = cuda.get_array_module(col).zeros((n, c, *dims), col.dtype)
    axes = [get_taps(*row) for row in zip(ksize, stride, pad, dims, dilate, outs)]
    everything = slice(None)
    for taps in itertools.product(*axes):
        indexes, sources, targets = zip(*taps)
        # `img[...] += ...` would assign the sum once more.
        target = img[(everything, everything, *targets)]
        target += col[(everything, everything, *indexes, *sources)]
    return img


def get_taps(k, s, p, dim, d, out):
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
