"""Base of pooling functions in any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import Operation
from chainer.functions.pooling._windows import get_windows
from chainer.utils import conv, conv_nd, type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.utils.type_check import TypeInfoTuple


class _PoolingND(Operation):
    """Function of the windows of an image.

    Attributes:
        ndim (int): Number of spatial dimensions.
        ksize, stride, pad (tuple of int): Size and distance of the windows and width of the
            padding, per dimension.
        cover_all (bool): Whether the windows cover all elements of the image.
        return_indices (bool): Whether to return the positions of maxima.

    """

    def __init__(
        self,
        ndim: int,
        ksize: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: int | Sequence[int] = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        if stride is None:
            stride = ksize
        self.ndim = ndim
        self.ksize: tuple[int, ...] = conv_nd.as_tuple(ksize, ndim)
        self.stride: tuple[int, ...] = conv_nd.as_tuple(stride, ndim)
        self.pad: tuple[int, ...] = conv_nd.as_tuple(pad, ndim)
        self.cover_all = cover_all
        self.return_indices = return_indices

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        (x_type,) = in_types
        type_check.expect(x_type.dtype.kind == 'f', x_type.ndim == self.ndim + 2)

    def _windows(self, dims):
        outs = tuple(
            [
                conv.get_conv_outsize(*row, self.cover_all)
                for row in zip(dims, self.ksize, self.stride, self.pad)
            ]
        )
        assert all([out > 0 for out in outs]), (
            f'Output size should be positive, but is {outs} (input {tuple(dims)}, window '
            f'{self.ksize}, stride {self.stride}, pad {self.pad})'
        )
        return get_windows(tuple(dims), self.ksize, self.stride, self.pad, outs)


def _check_ndim(x, n):
    """Checks that an input has ``n`` spatial dimensions.

    Raises:
        ValueError: If it does not.

    """
    if x.ndim != n + 2:
        raise ValueError(
            'The number of dimensions under channel dimension of the input '
            f"'x' should be {n}, but the actual ndim was {x.ndim - 2}."
        )
