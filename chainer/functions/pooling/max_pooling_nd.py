"""Max pooling in any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from chainer.functions.pooling._max_pooling_nd import (
    MaxPoolingND as MaxPoolingND,
    MaxPoolingNDGrad as MaxPoolingNDGrad,
    MaxPoolingNDWithIndexes as MaxPoolingNDWithIndexes,
)
from chainer.functions.pooling.pooling_nd import _check_ndim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


@overload
def max_pooling_nd(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    return_indices: Literal[False] = ...,
) -> Variable: ...
@overload
def max_pooling_nd(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, NdArray]: ...
@overload
def max_pooling_nd(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None,
    pad: int | Sequence[int],
    cover_all: bool,
    return_indices: bool,
) -> Any: ...
def max_pooling_nd(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, NdArray]:
    """Maxima of the windows of an input with :math:`N` spatial dimensions.

    .. math:: y_i = \\max_{0 \\le u_d < k_d} x_{i s + u - p}

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, d_1, ..., d_N)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side, which is never a maximum.
        cover_all (bool): Whether the windows cover every element.
        return_indices (bool): Whether to also return the positions of the maxima, as
            :func:`upsampling_2d` takes them.

    Returns:
        ~chainer.Variable or tuple: Output of shape ``(n, c, l_1, ..., l_N)``, where ``l_i`` is
        ``(d_i + 2 * p_i - k_i) // s_i + 1``, rounded up if ``cover_all``; its
        dtype is that of ``x``. With ``return_indices``, also an integer array of the same shape:
        the positions of the maxima within their windows, numbered in row-major order.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not of floating point.
        AssertionError: If the output would be empty, or an argument has a wrong number of
            dimensions.

    .. admonition:: Example

        >>> x = np.array([[[3, 1, 4, 1, 5]]], np.float32)
        >>> y, indexes = F.max_pooling_nd(x, 2, return_indices=True)
        >>> y.array[0, 0], indexes[0, 0]
        (array([3., 4., 5.], dtype=float32), array([0, 0, 0]))

    """
    func = MaxPoolingND(x.ndim - 2, ksize, stride, pad, cover_all, return_indices)
    (y,) = func.apply((x,))
    if not return_indices:
        return y
    indexes: Any = func.indexes
    return y, indexes


@overload
def max_pooling_1d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    return_indices: Literal[False] = ...,
) -> Variable: ...
@overload
def max_pooling_1d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, NdArray]: ...
def max_pooling_1d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, NdArray]:
    """Maxima of the windows of a sequence: :func:`max_pooling_nd` with :math:`N = 1`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape ``(n, c, d)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side, which is never a maximum.
        cover_all (bool): Whether the windows cover every element.
        return_indices (bool): Whether to also return the positions of the maxima.

    Returns:
        ~chainer.Variable or tuple: Output of shape ``(n, c, l)``, where ``l`` is
        ``(d + 2 * p - k) // s + 1``, rounded up if ``cover_all``; its dtype is that of ``x``. With
        ``return_indices``, also an integer array of positions, as of :func:`max_pooling_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d)``.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> x = np.array([[[3, 1, 4, 1, 5]]], np.float32)
        >>> F.max_pooling_1d(x, 2).array
        array([[[3., 4., 5.]]], dtype=float32)
        >>> F.max_pooling_1d(x, 2, cover_all=False).array
        array([[[3., 4.]]], dtype=float32)

    """
    _check_ndim(x, 1)
    return max_pooling_nd(x, ksize, stride, pad, cover_all, return_indices)


@overload
def max_pooling_2d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    return_indices: Literal[False] = ...,
) -> Variable: ...
@overload
def max_pooling_2d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, NdArray]: ...
def max_pooling_2d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, NdArray]:
    """Maxima of the windows of images: :func:`max_pooling_nd` with :math:`N = 2`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape ``(n, c, d_1, d_2)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side, which is never a maximum.
        cover_all (bool): Whether the windows cover every element.
        return_indices (bool): Whether to also return the positions of the maxima.

    Returns:
        ~chainer.Variable or tuple: Output of shape ``(n, c, l_1, l_2)``, where ``l_i`` is
        ``(d_i + 2 * p_i - k_i) // s_i + 1``, rounded up if ``cover_all``; its dtype is that of
        ``x``. With ``return_indices``, also an integer array of positions, as of
        :func:`max_pooling_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d_1, d_2)``.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
        >>> F.max_pooling_2d(x, 2).array[0, 0]
        array([[4., 5.],
               [7., 8.]], dtype=float32)
        >>> F.max_pooling_2d(x, 2, cover_all=False).array[0, 0]
        array([[4.]], dtype=float32)

    """
    _check_ndim(x, 2)
    return max_pooling_nd(x, ksize, stride, pad, cover_all, return_indices)


@overload
def max_pooling_3d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    return_indices: Literal[False] = ...,
) -> Variable: ...
@overload
def max_pooling_3d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = ...,
    pad: int | Sequence[int] = ...,
    cover_all: bool = ...,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, NdArray]: ...
def max_pooling_3d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, NdArray]:
    """Maxima of the windows of a volume: :func:`max_pooling_nd` with :math:`N = 3`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, d_1, d_2, d_3)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side, which is never a maximum.
        cover_all (bool): Whether the windows cover every element.
        return_indices (bool): Whether to also return the positions of the maxima.

    Returns:
        ~chainer.Variable or tuple: Output of shape ``(n, c, l_1, l_2, l_3)``, where ``l_i`` is
        ``(d_i + 2 * p_i - k_i) // s_i + 1``, rounded up if ``cover_all``; its dtype is that of
        ``x``. With ``return_indices``, also an integer array of positions, as of
        :func:`max_pooling_nd`.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d_1, d_2, d_3)``.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
        >>> F.max_pooling_3d(x, (1, 2, 2)).array.ravel()
        array([3., 7.], dtype=float32)

    """
    _check_ndim(x, 3)
    return max_pooling_nd(x, ksize, stride, pad, cover_all, return_indices)
