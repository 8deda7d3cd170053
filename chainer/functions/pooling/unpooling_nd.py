"""Unpooling in any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions.pooling._windows import LinearMap, get_windows
from chainer.functions.pooling.pooling_nd import _check_ndim, _PoolingND
from chainer.utils import conv, conv_nd, type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class _Unpooling(_PoolingND):
    """Base of functions from windows to images: transposes of pooling.

    Attributes:
        outs (tuple of int or None): Spatial shape of the output, if it differs from the default.

    """

    outs: tuple[int, ...] | None = None
    # Behind ChainerX arrays are several operations, each with an array in between.
    _kernels = NO_KERNELS

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        (x_type,) = in_types
        for i, out in enumerate(self.outs or ()):
            expected = conv.get_conv_outsize(
                out, self.ksize[i], self.stride[i], self.pad[i], self.cover_all
            )
            type_check.expect(x_type.shape[i + 2] == expected)

    def _windows(self, dims):
        """Windows of the output, given the spatial shape of the input."""
        if self.outs is None:
            outs = [
                conv.get_deconv_outsize(*row, self.cover_all)
                for row in zip(dims, self.ksize, self.stride, self.pad)
            ]
            # Nothing comes of nothing.
            self.outs = tuple([out if n else max(out, 0) for out, n in zip(outs, dims)])
        assert all([out >= 0 for out in self.outs]), (
            f'Output size should not be negative, but is {self.outs}'
        )
        return get_windows(self.outs, self.ksize, self.stride, self.pad, tuple(dims))

    def _set_outsize(self, outsize):
        if outsize is not None:
            self.outs = conv_nd.as_tuple(outsize, self.ndim)


class _Spread(_Unpooling):
    """Adds each element to its whole window."""

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (self._windows(inputs[0].shape[2:]).spread(inputs[0]),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        dims = x.shape[2:]
        self._windows(dims)  # checks and sets the shape of the output
        outs: Any = self.outs
        if 0 in (*dims, *outs, *self.ksize):
            # No element reaches the output.
            zero = x[:0].sum()
            return (chainerx.broadcast_to(zero, (*x.shape[:2], *outs)).copy(),)
        fits = all([out <= n * k for out, n, k in zip(outs, dims, self.ksize)])
        if fits and self.stride == self.ksize and not any(self.pad):
            return (self._repeat(x)[(..., *map(slice, outs))],)
        # The transpose of a convolution of each channel with ones.
        ones = chainerx.ones((1, 1, *self.ksize), x.dtype, device=x.device)
        rows = x.reshape(x.shape[0] * x.shape[1], 1, *dims)
        y = chainerx.conv_transpose(rows, ones, None, self.stride, self.pad, outs)
        return (y.reshape(*x.shape[:2], *outs),)

    def _repeat(self, x):
        """Repeats each element for all places of its window."""
        for axis in range(x.ndim - 1, 1, -1):
            k = self.ksize[axis - 2]
            shape = (*x.shape[:axis], x.shape[axis] * k, *x.shape[axis + 1 :])
            x = chainerx.stack([x] * k, axis=axis + 1).reshape(shape)
        return x

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        windows = self._windows(self.inputs[0].shape[2:])
        return m.apply(LinearMap(windows.sum, windows.spread), gys)


class UnpoolingND(_Spread):
    """Unpooling in ``ndim`` dimensions."""

    def __init__(
        self,
        ndim: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: int | Sequence[int] = 0,
        outsize: int | tuple[int, ...] | None = None,
        cover_all: bool = True,
    ) -> None:
        super().__init__(ndim, ksize, stride, pad, cover_all)
        self._set_outsize(outsize)


def unpooling_nd(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: int | tuple[int, ...] | None = None,
    cover_all: bool = True,
) -> Variable:
    """Unpooling: spreads each element over a window, with :math:`N` spatial dimensions.

    It is the transpose of sum pooling; elements of overlapping windows add up.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, d_1, ..., d_N)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the border cut from the output.
        outsize (None or tuple of int): Spatial shape of the output. Pooling of this size
            must produce the size of ``x``. The default is the smallest.
        cover_all (bool): Whether the pooling covers all elements. The last windows may then
            extend beyond the output, by default by ``s_i - 1``.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l_1, ..., l_N)``, where ``l_i`` is by default
        ``s_i * (d_i - 1) + k_i - 2 * p_i``, less ``s_i - 1`` if ``cover_all``; its dtype is that of
        ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not of floating point, or its shape
            does not fit ``outsize``.
        AssertionError: If the size of the output would be negative, or an argument has a wrong
            number of dimensions.

    .. admonition:: Example

        >>> x = np.array([[[1, 2]]], np.float32)
        >>> F.unpooling_nd(x, 2, cover_all=False).array[0, 0]
        array([1., 1., 2., 2.], dtype=float32)
        >>> F.unpooling_nd(x, 2).array[0, 0]
        array([1., 1., 2.], dtype=float32)

    """
    return UnpoolingND(x.ndim - 2, ksize, stride, pad, outsize, cover_all).apply((x,))[0]


def unpooling_1d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: int | tuple[int, ...] | None = None,
    cover_all: bool = True,
) -> Variable:
    """Unpooling of a sequence: :func:`unpooling_nd` with :math:`N = 1`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape ``(n, c, d)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the border cut from the output.
        outsize (None, int or tuple of int): Spatial shape of the output (default: the smallest).
        cover_all (bool): Whether the last windows may extend beyond the output.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l)``, where ``l`` is by default
        ``s * (d - 1) + k - 2 * p``, less ``s - 1`` if ``cover_all``; its dtype is that of ``x``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d)``.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point, or its shape does not
            fit ``outsize``.
        AssertionError: If the size of the output would be negative.

    .. admonition:: Example

        >>> x = np.array([[[1, 2]]], np.float32)
        >>> F.unpooling_1d(x, 3, stride=2, cover_all=False).array
        array([[[1., 1., 3., 2., 2.]]], dtype=float32)

    """
    _check_ndim(x, 1)
    return unpooling_nd(x, ksize, stride, pad, outsize, cover_all)


def unpooling_3d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: int | tuple[int, ...] | None = None,
    cover_all: bool = True,
) -> Variable:
    """Unpooling of a volume: :func:`unpooling_nd` with :math:`N = 3`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, d_1, d_2, d_3)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the border cut from the output.
        outsize (None, int or tuple of int): Spatial shape of the output (default: the smallest).
        cover_all (bool): Whether the last windows may extend beyond the output.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l_1, l_2, l_3)``, where ``l_i`` is by default
        ``s_i * (d_i - 1) + k_i - 2 * p_i``, less ``s_i - 1`` if ``cover_all``; its dtype is that
        of ``x``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d_1, d_2, d_3)``.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point, or its shape does not
            fit ``outsize``.
        AssertionError: If the size of the output would be negative.

    .. admonition:: Example

        >>> x = np.ones((1, 2, 3, 4, 5), np.float32)
        >>> F.unpooling_3d(x, 2, cover_all=False).shape
        (1, 2, 6, 8, 10)

    """
    _check_ndim(x, 3)
    return unpooling_nd(x, ksize, stride, pad, outsize, cover_all)
