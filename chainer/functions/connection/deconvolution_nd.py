"""Deconvolution in any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.connection._convolution_nd import DeconvolutionND
from chainer.functions.pooling.pooling_nd import _check_ndim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def deconvolution_nd(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    outsize: tuple[int, ...] | None = None,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Deconvolution with :math:`N` spatial dimensions: the transpose of :func:`convolution_nd`.

    See :func:`deconvolution_2d` for the formula.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c_I, d_1, ..., d_N)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_I, c_O / groups, k_1, ..., k_N)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or tuple of int): Stride :math:`s`, in the output.
        pad (int or tuple of int): Width :math:`p` of the border cut from the output.
        outsize (None or tuple of int): Spatial shape of the output. A convolution of this
            size must produce the size of ``x``. The default is the smallest.
        dilate (int or tuple of int): Distance :math:`d` of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l_1, ..., l_N)``, where ``l_i`` is by
        default ``s_i * (d_i - 1) + (k_i - 1) * dilate_i + 1 - 2 * p_i``; its dtype is
        that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty, or an argument has a wrong number of
            dimensions.
        TypeError: If the numbers of channels are not multiples of ``groups``.

    .. seealso:: :class:`~chainer.links.DeconvolutionND`

    .. admonition:: Example

        >>> x = np.ones((2, 3, 4, 5, 6), np.float32)
        >>> W = np.ones((3, 1, 4, 4, 4), np.float32)
        >>> F.deconvolution_nd(x, W, stride=2, pad=1).shape
        (2, 1, 8, 10, 12)

    """
    func = DeconvolutionND(x.ndim - 2, stride, pad, outsize, dilate, groups)
    return func.apply((x, W) if b is None else (x, W, b))[0]


def deconvolution_1d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    outsize: tuple[int, ...] | None = None,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """One-dimensional deconvolution: :func:`deconvolution_nd` with :math:`N = 1`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c_I, d)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_I, c_O / groups, k)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or tuple of int): Stride, in the output.
        pad (int or tuple of int): Width of the border cut from the output.
        outsize (None or tuple of int): Spatial shape of the output. The default is the smallest.
        dilate (int or tuple of int): Distance of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l)``, of the dtype of ``x``, where
        ``l`` is by default
        ``s * (d - 1) + (k - 1) * dilate + 1 - 2 * p``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d)``.
        ~chainer.utils.type_check.InvalidType: If other shapes or dtypes do not fit.
        AssertionError: If the output would be empty.
        TypeError: If the numbers of channels are not multiples of ``groups``.

    .. admonition:: Example

        >>> x = np.array([[[1, 2, 4]]], np.float32)
        >>> F.deconvolution_1d(x, np.array([[[1, 1]]], np.float32)).array
        array([[[1., 3., 6., 4.]]], dtype=float32)

    """
    _check_ndim(x, 1)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)


def deconvolution_3d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    outsize: tuple[int, ...] | None = None,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Three-dimensional deconvolution: :func:`deconvolution_nd` with :math:`N = 3`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c_I, d_1, d_2, d_3)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_I, c_O / groups, k_1, k_2, k_3)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or tuple of int): Stride, in the output.
        pad (int or tuple of int): Width of the border cut from the output.
        outsize (None or tuple of int): Spatial shape of the output. The default is the smallest.
        dilate (int or tuple of int): Distance of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l_1, l_2, l_3)``, of the dtype of ``x``, where
        ``l_i`` is by default
        ``s_i * (d_i - 1) + (k_i - 1) * dilate_i + 1 - 2 * p_i``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d_1, d_2, d_3)``.
        ~chainer.utils.type_check.InvalidType: If other shapes or dtypes do not fit.
        AssertionError: If the output would be empty.
        TypeError: If the numbers of channels are not multiples of ``groups``.

    .. admonition:: Example

        >>> x, W = np.ones((2, 3, 4, 5, 6), np.float32), np.ones((3, 1, 4, 4, 4), np.float32)
        >>> F.deconvolution_3d(x, W, stride=2, pad=1).shape
        (2, 1, 8, 10, 12)

    """
    _check_ndim(x, 3)
    return deconvolution_nd(x, W, b, stride, pad, outsize, dilate, groups)
