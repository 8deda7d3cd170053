"""Patches of images of any number of dimensions; see :mod:`chainer.utils.conv`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.utils import _patches
from chainer.utils.conv import (  # noqa: F401
    get_conv_outsize as get_conv_outsize,
    get_deconv_outsize as get_deconv_outsize,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray


def as_tuple(x: Any, n: int) -> tuple[Any, ...]:
    """Returns ``x`` as a tuple of length ``n``: a single value is repeated.

    Args:
        x: Value, or sequence of ``n`` values.
        n (int): Length.

    Returns:
        tuple: The values.

    Raises:
        AssertionError: If the length of the sequence is not ``n``.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.as_tuple(3, 2), conv_nd.as_tuple([1, 2], 2)
        ((3, 3), (1, 2))

    """
    if hasattr(x, '__len__'):
        assert len(x) == n, f'expected {n} values, but got {x}'
        return tuple(x)
    return (x,) * n


def im2col_nd_cpu(
    img: NdArray,
    ksize: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    pval: float = 0,
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
) -> NdArray:
    """Collects the patches of images.

    Args:
        img: Images of shape ``(n, c, d_1, ..., d_N)``.
        ksize (tuple of int): Size of the kernel.
        stride (tuple of int): Strides.
        pad (tuple of int): Paddings.
        pval: Value of the padding.
        cover_all (bool): Whether the patches cover all elements.
        dilate (int or tuple of int): Dilation.

    Returns:
        Array of shape ``(n, c, k_1, ..., k_N, out_1, ..., out_N)``.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.im2col_nd_cpu(np.zeros((1, 2, 5, 6, 7)), (3, 3, 3), 1, 0).shape
        (1, 2, 3, 3, 3, 3, 4, 5)

    """
    ndim = img.ndim - 2
    return _patches.im2col(
        img,
        as_tuple(ksize, ndim),
        as_tuple(stride, ndim),
        as_tuple(pad, ndim),
        pval,
        cover_all,
        as_tuple(dilate, ndim),
    )


def im2col_nd_gpu(
    img: NdArray,
    ksize: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
) -> NdArray:
    """Collects the patches of images, padded with zeros: alias of :func:`im2col_nd`.

    Returns:
        Array of shape ``(n, c, k_1, ..., k_N, out_1, ..., out_N)``. It is on the
        device of ``img``.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.im2col_nd_gpu(np.zeros((1, 2, 8)), 3, 1, 1).shape
        (1, 2, 3, 8)

    """
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


def im2col_nd(
    img: NdArray,
    ksize: Sequence[int],
    stride: Sequence[int],
    pad: Sequence[int],
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
) -> NdArray:
    """Collects the patches of images, padded with zeros.

    It works for arrays of any module.

    Args:
        img: Images of shape ``(n, c, d_1, ..., d_N)`` and any dtype.
        ksize (int or tuple of ints): Size of the kernel.
        stride (int or tuple of ints): Strides.
        pad (int or tuple of ints): Paddings.
        cover_all (bool): Whether the patches cover all elements.
        dilate (int or tuple of ints): Dilation.

    Returns:
        Array of shape ``(n, c, k_1, ..., k_N, out_1, ..., out_N)``, of the
        module and dtype of ``img``.

    Raises:
        AssertionError: If the output would be empty, or a tuple does
            not have ``N`` elements.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.im2col_nd(np.array([[[1, 2, 3]]]), 2, 1, 0)[0, 0]
        array([[1, 2],
               [2, 3]])

    """
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


def col2im_nd_cpu(
    col: NdArray,
    stride: Sequence[int],
    pad: Sequence[int],
    dims: Sequence[int],
    dilate: int | Sequence[int] = 1,
) -> NdArray:
    """Sums patches at their positions in the images: the transpose of :func:`im2col_nd`.

    Args:
        col: Patches of shape ``(n, c, k_1, ..., k_N, out_1, ..., out_N)``.
        stride (tuple of int): Strides.
        pad (tuple of int): Paddings.
        dims (tuple of int): Size of the images.
        dilate (int or tuple of int): Dilation.

    Returns:
        Array of shape ``(n, c, d_1, ..., d_N)``.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.col2im_nd_cpu(np.ones((1, 1, 2, 2)), (1,), (0,), (3,))
        array([[[1., 2., 1.]]])

    """
    ndim = len(dims)
    return _patches.col2im(
        col, as_tuple(stride, ndim), as_tuple(pad, ndim), tuple(dims), as_tuple(dilate, ndim)
    )


def col2im_nd_gpu(
    col: NdArray,
    stride: Sequence[int],
    pad: Sequence[int],
    dims: Sequence[int],
    dilate: int | Sequence[int] = 1,
) -> NdArray:
    """Sums patches at their positions in the images: alias of :func:`col2im_nd`.

    Returns:
        Array of shape ``(n, c, d_1, ..., d_N)``. It is on the device of ``col``.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.col2im_nd_gpu(np.zeros((1, 2, 3, 8)), (1,), (1,), (8,)).shape
        (1, 2, 8)

    """
    return col2im_nd_cpu(col, stride, pad, dims, dilate)


def col2im_nd(
    col: NdArray,
    stride: Sequence[int],
    pad: Sequence[int],
    dims: Sequence[int],
    dilate: int | Sequence[int] = 1,
) -> NdArray:
    """Sums patches at their positions in the images: the transpose of :func:`im2col_nd`.

    It works for arrays of any module.

    Args:
        col: Patches of shape ``(n, c, k_1, ..., k_N, out_1, ..., out_N)``.
        stride (int or tuple of ints): Strides.
        pad (int or tuple of ints): Paddings.
        dims (tuple of ints): Size of the images, ``N`` numbers.
        dilate (int or tuple of ints): Dilation.

    Returns:
        Array of shape ``(n, c, d_1, ..., d_N)``, of the module and dtype of
        ``col``.

    Raises:
        AssertionError: If a tuple does not have ``N`` elements.

    .. admonition:: Example

        >>> from chainer.utils import conv_nd
        >>> conv_nd.col2im_nd(np.zeros((1, 2, 3, 8)), (1,), (1,), (8,)).shape
        (1, 2, 8)

    """
    return col2im_nd_cpu(col, stride, pad, dims, dilate)
