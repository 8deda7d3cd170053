"""Base of pooling functions of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._arguments import pair
from chainer.functions.pooling.pooling_nd import _PoolingND

if TYPE_CHECKING:
    from collections.abc import Sequence


class Pooling2D(_PoolingND):
    """Function of the windows of an image in two dimensions.

    Attributes:
        kh, kw (int): Height and width of the windows.
        sy, sx (int): Vertical and horizontal stride.
        ph, pw (int): Vertical and horizontal padding.

    """

    kh: property = property(lambda self: self.ksize[0])
    kw: property = property(lambda self: self.ksize[1])
    sy: property = property(lambda self: self.stride[0])
    sx: property = property(lambda self: self.stride[1])
    ph: property = property(lambda self: self.pad[0])
    pw: property = property(lambda self: self.pad[1])

    def __init__(
        self,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: int | Sequence[int] = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        stride = ksize if stride is None else stride
        super().__init__(
            2,
            pair('ksize', ksize),
            pair('stride', stride),
            pair('pad', pad),
            cover_all,
            return_indices,
        )
