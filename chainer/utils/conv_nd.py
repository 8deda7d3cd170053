"""Patches of images of any number of dimensions; see :mod:`chainer.utils.conv`."""
from chainer.utils import conv


def as_tuple(x, n):
    """Returns ``x`` as a tuple of length ``n``: a single value is repeated.

    >>> from chainer.utils import conv_nd
    >>> conv_nd.as_tuple(3, 2)
    (3, 3)

    """
    if hasattr(x, '__getitem__'):
        assert len(x) == n, f'expected {n} values, but got {x}'
        return tuple(x)
    return (x,) * n


def im2col_nd_cpu(img, ksize, stride, pad, pval=0, cover_all=False, dilate=1):
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

    """
    ndim = img.ndim - 2
    return conv._im2col(
        img, as_tuple(ksize, ndim), as_tuple(stride, ndim), as_tuple(pad, ndim), pval, cover_all,
        as_tuple(dilate, ndim))


def im2col_nd_gpu(img, ksize, stride, pad, cover_all=False, dilate=1):
    """Collects the patches of images, padded with zeros; see :func:`im2col_nd_cpu`."""
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


def im2col_nd(img, ksize, stride, pad, cover_all=False, dilate=1):
    """Collects the patches of images, padded with zeros; see :func:`im2col_nd_cpu`."""
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


def col2im_nd_cpu(col, stride, pad, dims, dilate=1):
    """Adds up patches at their places in the images: the transpose of :func:`im2col_nd`.

    Args:
        col: Patches of shape ``(n, c, k_1, ..., k_N, out_1, ..., out_N)``.
        stride (tuple of int): Strides.
        pad (tuple of int): Paddings.
        dims (tuple of int): Size of the images.
        dilate (int or tuple of int): Dilation.

    Returns:
        Array of shape ``(n, c, d_1, ..., d_N)``.

    """
    ndim = len(dims)
    return conv._col2im(
        col, as_tuple(stride, ndim), as_tuple(pad, ndim), tuple(dims), as_tuple(dilate, ndim))


def col2im_nd_gpu(col, stride, pad, dims, dilate=1):
    """Adds up patches at their places in the images; see :func:`col2im_nd_cpu`."""
    return col2im_nd_cpu(col, stride, pad, dims, dilate)


def col2im_nd(col, stride, pad, dims, dilate=1):
    """Adds up patches at their places in the images; see :func:`col2im_nd_cpu`."""
    return col2im_nd_cpu(col, stride, pad, dims, dilate)
