"""Average pooling of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.pooling.average_pooling_nd import _Average
from chainer.functions.pooling.pooling_2d import Pooling2D

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class AveragePooling2D(_Average, Pooling2D):
    """Means of windows of images."""


def average_pooling_2d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
) -> Variable:
    """Means of the windows of images, where padding counts as zeros.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        ksize (int or pair of int): Size of the windows.
        stride (int, pair of int or None): Distance of the windows (default: ``ksize``).
        pad (int or pair of int): Width of the padding on each side.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, h_O, w_O)``, where ``h_O`` is
        ``(h + 2 * ph - kh) // sh + 1``; its dtype is that of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not four-dimensional and of floating
            point.
        AssertionError: If the output would be empty.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> F.average_pooling_2d(x, 2).array[0, 0]
        array([[ 2.5,  4.5],
               [10.5, 12.5]], dtype=float32)

    """
    return AveragePooling2D(ksize, stride, pad, False).apply((x,))[0]
