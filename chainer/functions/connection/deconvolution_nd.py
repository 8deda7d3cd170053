"""Deconvolution in any number of dimensions."""
from __future__ import annotations

from chainer.functions.connection._convolution import Deconvolution
from chainer.functions.connection.convolution_nd import ConvolutionND
from chainer.functions.pooling.pooling_nd import _check_ndim


class DeconvolutionND(Deconvolution):
    """Transpose of the convolution with ``ndim`` spatial dimensions."""

    transposed_class = ConvolutionND

    def __init__(self, ndim, stride=1, pad=0, outsize=None, dilate=1, groups=1):
        self._set_geometry(ndim, stride, pad, dilate, groups)
        if outsize is not None:
            assert len(outsize) == ndim, f'outsize should have {ndim} elements: {outsize}'
            self.outs = tuple(outsize)


ConvolutionND.transposed_class = DeconvolutionND


def deconvolution_nd(x, W, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1):
    """Deconvolution with :math:`N` spatial dimensions: the transpose of :func:`convolution_nd`.

    See :func:`deconvolution_2d` for the formula.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(n, c_I, d_1, ..., d_N)``.
        W (:class:`~chainer.Variable` or array): Weight of shape
            ``(c_I, c_O / groups, k_1, ..., k_N)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)`` (optional).
        stride (int or tuple of int): Stride :math:`s`, in the output.
        pad (int or tuple of int): Width :math:`p` of the border that is cut off the output.
        outsize (None or tuple of int): Spatial shape of the output. A convolution of this size
            must give one of the size of ``x``. The default is the smallest.
        dilate (int or tuple of int): Distance :math:`d` of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l_1, ..., l_N)``, where ``l_i`` is by
        default ``s_i * (d_i - 1) + (k_i - 1) * dilate_i + 1 - 2 * p_i``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty, or an argument has another number of
            dimensions.
        TypeError: If the numbers of channels are no multiples of ``groups``.

    .. seealso:: :class:`~chainer.links.DeconvolutionND`

    .. admonition:: Example

        >>> x = np.ones((2, 3, 4, 5, 6), np.float32)
        >>> W = np.ones((3, 1, 4, 4, 4), np.float32)
        >>> F.deconvolution_nd(x, W, stride=2, pad=1).shape
        (2, 1, 8, 10, 12)

    """
    func = DeconvolutionND(x.ndim - 2, stride, pad, outsize, dilate, groups)
    return func.apply((x, W) if b is None else (x, W, b))[0]


def deconvolution_1d(x, W, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1):
    """One-dimensional deconvolution; see :func:`deconvolution_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d)``.

    """
    _check_ndim(x, 1)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)


def deconvolution_3d(x, W, b=None, stride=1, pad=0, outsize=None, dilate=1, groups=1):
    """Three-dimensional deconvolution; see :func:`deconvolution_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d_1, d_2, d_3)``.

    """
    _check_ndim(x, 3)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)
