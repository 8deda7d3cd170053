"""Convolution in any number of dimensions."""
from __future__ import annotations

from chainer.functions.connection._convolution import Convolution
from chainer.functions.pooling.pooling_nd import _check_ndim


class ConvolutionND(Convolution):
    """Convolution with ``ndim`` spatial dimensions."""

    def __init__(self, ndim, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
        self._set_geometry(ndim, stride, pad, dilate, groups)
        self.cover_all = cover_all


def convolution_nd(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    """Convolution with :math:`N` spatial dimensions; see :func:`convolution_2d`.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(n, c_I, d_1, ..., d_N)``.
        W (:class:`~chainer.Variable` or array): Weight of shape
            ``(c_O, c_I / groups, k_1, ..., k_N)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)`` (optional).
        stride (int or tuple of int): Stride :math:`s`.
        pad (int or tuple of int): Width :math:`p` of the padding on each side.
        cover_all (bool): Whether the output is made large enough that every element of the
            input contributes.
        dilate (int or tuple of int): Distance :math:`d` of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l_1, ..., l_N)``, where ``l_i`` is
        ``(d_i + 2 * p_i - (k_i - 1) * dilate_i - 1) // s_i + 1``, rounded up if ``cover_all``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty, or an argument has another number of
            dimensions.
        TypeError: If the numbers of channels are no multiples of ``groups``.

    .. seealso:: :class:`~chainer.links.ConvolutionND`

    .. admonition:: Example

        >>> x = np.ones((2, 3, 8, 6, 7), np.float32)
        >>> W = np.ones((1, 3, 3, 3, 3), np.float32)
        >>> F.convolution_nd(x, W, stride=2, pad=1).shape
        (2, 1, 4, 3, 4)

    """
    func = ConvolutionND(x.ndim - 2, stride, pad, cover_all, dilate, groups)
    return func.apply((x, W) if b is None else (x, W, b))[0]


def convolution_1d(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    """One-dimensional convolution; see :func:`convolution_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d)``.

    """
    _check_ndim(x, 1)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate, groups)


def convolution_3d(x, W, b=None, stride=1, pad=0, cover_all=False, dilate=1, groups=1):
    """Three-dimensional convolution; see :func:`convolution_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d_1, d_2, d_3)``.

    """
    _check_ndim(x, 3)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate, groups)
