"""Unpooling of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.pooling.pooling_2d import Pooling2D
from chainer.functions.pooling.unpooling_nd import _Spread, _Unpooling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class _Unpooling2D(_Unpooling, Pooling2D):
    """Base of functions from windows to two-dimensional images.

    Attributes:
        outh, outw (int or None): Height and width of the output, if not the default.

    """

    outh: property = property(lambda self: None if self.outs is None else self.outs[0])
    outw: property = property(lambda self: None if self.outs is None else self.outs[1])

    def __init__(
        self,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: int | Sequence[int] = 0,
        outsize: Sequence[int] | None = None,
        cover_all: bool = True,
    ) -> None:
        Pooling2D.__init__(self, ksize, stride, pad, cover_all)
        self._set_outsize(outsize)


class Unpooling2D(_Spread, _Unpooling2D):
    """Unpooling of images."""

    if not TYPE_CHECKING:  # which sees it in the second base
        __init__ = _Unpooling2D.__init__


def unpooling_2d(
    x: VariableLike,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: Sequence[int] | None = None,
    cover_all: bool = True,
) -> Variable:
    """Unpooling of images: spreads each pixel over a window; see :func:`unpooling_nd`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        ksize (int or pair of int): Size of the windows.
        stride (int, pair of int or None): Distance of the windows (default: ``ksize``).
        pad (int or pair of int): Width of the border cut from the output.
        outsize (None or pair of int): Size of the output.
        cover_all (bool): Whether the last windows may extend beyond the output.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, h_O, w_O)``, of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not four-dimensional and of floating
            point, or its shape does not fit ``outsize``.
        AssertionError: If the size of the output would be negative.

    .. admonition:: Example

        >>> x = np.array([[[[1, 2]]]], np.float32)
        >>> F.unpooling_2d(x, 2, outsize=(2, 4)).array[0, 0]
        array([[1., 1., 2., 2.],
               [1., 1., 2., 2.]], dtype=float32)

    """
    return Unpooling2D(ksize, stride, pad, outsize, cover_all).apply((x,))[0]
