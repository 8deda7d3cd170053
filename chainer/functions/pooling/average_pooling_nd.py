"""Average pooling in any number of dimensions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from chainer._core.reports.fallback import Fallback
from chainer._core.settings.half import is_half
from chainer.backends import cuda
from chainer.functions._base import call_chainerx, kernels
from chainer.functions.pooling._windows import LinearMap
from chainer.functions.pooling.pooling_nd import _check_ndim, _PoolingND
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class _Average(_PoolingND):
    """Means of windows."""

    #: Value of the padding, or ``None`` to average only over the image.
    pad_value: int | None = 0
    _kernels = kernels(check=True)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (self._pool(inputs[0]),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if self.cover_all:
            return Fallback('cover_all')
        mode = 'zero' if self.pad_value == 0 else 'ignore'
        return call_chainerx('average_pool', inputs[0], self.ksize, self.stride, self.pad, mode)

    def _divide(self, y, windows):
        if self.pad_value is None:
            y /= cuda.get_array_module(y).asarray(windows.counts, y.dtype)
        else:
            y /= y.dtype.type(math.prod(self.ksize))
        return y

    def _pool(self, x):
        windows = self._windows(x.shape[2:])
        # Sums of float16 may overflow.
        wide = x.astype(numpy.float32) if is_half(x.dtype) else x
        return _cast(self._divide(windows.sum(wide), windows), x.dtype)

    def _pool_transposed(self, gy):
        windows = self._windows(self.inputs[0].shape[2:])
        return windows.spread(self._divide(gy.copy(), windows))

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(LinearMap(self._pool_transposed, self._pool), gys)


class AveragePoolingND(_Average):
    """Means of windows in ``ndim`` dimensions."""

    def __init__(
        self,
        ndim: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: int | Sequence[int] = 0,
        cover_all: bool = False,
        pad_value: int | None = 0,
    ) -> None:
        if pad_value is not None and pad_value != 0:
            raise ValueError(f'pad_value must be either 0 or None, not {pad_value}.')
        if cover_all is True:
            raise ValueError('`cover_all` mode is not supported yet.')
        super().__init__(ndim, ksize, stride, pad, cover_all)
        self.pad_value = pad_value


def average_pooling_nd(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    pad_value: int | None = 0,
) -> Variable:
    """Means of the windows of an input with :math:`N` spatial dimensions.

    .. math:: y_i = \\frac1{\\prod_d k_d} \\sum_{0 \\le u_d < k_d} x_{i s + u - p}

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, d_1, ..., d_N)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side.
        pad_value (0 or None): ``0`` counts the padding as zeros, ``None`` ignores it.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l_1, ..., l_N)``, where ``l_i`` is
        ``(d_i + 2 * p_i - k_i) // s_i + 1``; its dtype is that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not of floating point.
        ValueError: If ``pad_value`` is invalid.
        AssertionError: If the output would be empty, or an argument has a wrong number of
            dimensions.

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
        >>> F.average_pooling_nd(x, 3, stride=2, pad=1).array[0, 0].round(3)
        array([0.333, 2.   , 4.   ], dtype=float32)
        >>> F.average_pooling_nd(x, 3, stride=2, pad=1, pad_value=None).array[0, 0]
        array([0.5, 2. , 4. ], dtype=float32)

    """
    func = AveragePoolingND(x.ndim - 2, ksize, stride, pad, pad_value=pad_value)
    return func.apply((x,))[0]


def average_pooling_1d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    pad_value: int | None = 0,
) -> Variable:
    """Means of the windows of a sequence: :func:`average_pooling_nd` with :math:`N = 1`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape ``(n, c, d)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side.
        pad_value (0 or None): ``0`` counts the padding as zeros, ``None`` ignores it.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l)``, where ``l`` is
        ``(d + 2 * p - k) // s + 1``; its dtype is that of ``x``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d)``, or ``pad_value`` is invalid.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> F.average_pooling_1d(np.array([[[1, 3, 5, 7]]], np.float32), 2).array
        array([[[2., 6.]]], dtype=float32)

    """
    _check_ndim(x, 1)
    return average_pooling_nd(x, ksize, stride, pad, pad_value)


def average_pooling_3d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    pad_value: int | None = 0,
) -> Variable:
    """Means of the windows of a volume: :func:`average_pooling_nd` with :math:`N = 3`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, d_1, d_2, d_3)``.
        ksize (int or tuple of int): Size of the windows.
        stride (int, tuple of int or None): Distance of the windows (default: ``ksize``).
        pad (int or tuple of int): Width of the padding on each side.
        pad_value (0 or None): ``0`` counts the padding as zeros, ``None`` ignores it.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, l_1, l_2, l_3)``, where ``l_i`` is
        ``(d_i + 2 * p_i - k_i) // s_i + 1``; its dtype is that of ``x``.

    Raises:
        ValueError: If ``x`` is not of shape ``(n, c, d_1, d_2, d_3)``, or ``pad_value`` is invalid.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
        >>> F.average_pooling_3d(x, 2).array.ravel()
        array([3.5], dtype=float32)

    """
    _check_ndim(x, 3)
    return average_pooling_nd(x, ksize, stride, pad, pad_value)
