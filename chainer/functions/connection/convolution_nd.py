"""Convolution in any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.connection._convolution_nd import ConvolutionND
from chainer.functions.pooling.pooling_nd import _check_ndim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def convolution_nd(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Convolution with :math:`N` spatial dimensions; see :func:`convolution_2d`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c_I, d_1, ..., d_N)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_O, c_I / groups, k_1, ..., k_N)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or tuple of int): Stride :math:`s`.
        pad (int or tuple of int): Width :math:`p` of the padding on each side.
        cover_all (bool): Whether to enlarge the output so that every element
            of the input contributes.
        dilate (int or tuple of int): Distance :math:`d` of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l_1, ..., l_N)``, where ``l_i`` is
        ``(d_i + 2 * p_i - (k_i - 1) * dilate_i - 1) // s_i + 1``, rounded up if ``cover_all``;
        its dtype is that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.
        AssertionError: If the output would be empty, or an argument has a wrong number of
            dimensions.
        TypeError: If the numbers of channels are not multiples of ``groups``.

    .. seealso:: :class:`~chainer.links.ConvolutionND`

    .. admonition:: Example

        >>> x = np.ones((2, 3, 8, 6, 7), np.float32)
        >>> W = np.ones((1, 3, 3, 3, 3), np.float32)
        >>> F.convolution_nd(x, W, stride=2, pad=1).shape
        (2, 1, 4, 3, 4)

    """
    func = ConvolutionND(x.ndim - 2, stride, pad, cover_all, dilate, groups)
    return func.apply((x, W) if b is None else (x, W, b))[0]


def convolution_1d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """One-dimensional convolution: :func:`convolution_nd` with :math:`N = 1`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c_I, d)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_O, c_I / groups, k)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or tuple of int): Stride.
        pad (int or tuple of int): Width of the padding on each side.
        cover_all (bool): Whether to enlarge the output so that every element
            of the input contributes.
        dilate (int or tuple of int): Distance of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l)``, of the dtype of ``x``, where
        ``l`` is ``(d + 2 * p - (k - 1) * dilate - 1) // s + 1``,
        rounded up if ``cover_all``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d)``.
        ~chainer.utils.type_check.InvalidType: If other shapes or dtypes do not fit.
        AssertionError: If the output would be empty.
        TypeError: If the numbers of channels are not multiples of ``groups``.

    .. admonition:: Example

        >>> x = np.array([[[1, 2, 4, 8]]], np.float32)
        >>> F.convolution_1d(x, np.array([[[-1, 1]]], np.float32)).array
        array([[[1., 2., 4.]]], dtype=float32)

    """
    _check_ndim(x, 1)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate, groups)


def convolution_3d(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    cover_all: bool = False,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Three-dimensional convolution: :func:`convolution_nd` with :math:`N = 3`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c_I, d_1, d_2, d_3)``.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            ``(c_O, c_I / groups, k_1, k_2, k_3)``.
        b (:class:`~chainer.Variable` or array): Bias of shape ``(c_O,)``, of the dtype of
            ``x`` (optional).
        stride (int or tuple of int): Stride.
        pad (int or tuple of int): Width of the padding on each side.
        cover_all (bool): Whether to enlarge the output so that every element
            of the input contributes.
        dilate (int or tuple of int): Distance of the elements under the kernel.
        groups (int): Number of groups.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, l_1, l_2, l_3)``, of the dtype of ``x``, where
        ``l_i`` is ``(d_i + 2 * p_i - (k_i - 1) * dilate_i - 1) // s_i + 1``,
        rounded up if ``cover_all``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c_I, d_1, d_2, d_3)``.
        ~chainer.utils.type_check.InvalidType: If other shapes or dtypes do not fit.
        AssertionError: If the output would be empty.
        TypeError: If the numbers of channels are not multiples of ``groups``.

    .. admonition:: Example

        >>> x, W = np.ones((2, 3, 8, 6, 7), np.float32), np.ones((5, 3, 3, 3, 3), np.float32)
        >>> F.convolution_3d(x, W, stride=2, pad=1).shape
        (2, 5, 4, 3, 4)

    """
    _check_ndim(x, 3)
    return convolution_nd(x, W, b, stride, pad, cover_all, dilate, groups)
