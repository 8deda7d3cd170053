"""Shift of groups of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.backends import cuda
from chainer.functions._arguments import pair
from chainer.functions._base import Operation
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Shift(Operation):
    """Moves each group of channels of images in a different direction."""

    kh: int
    kw: int
    dy: int
    dx: int

    def __init__(self, ksize: int | Sequence[int] = 3, dilate: int | Sequence[int] = 1) -> None:
        self.kh, self.kw = pair('ksize', ksize)
        self.dy, self.dx = pair('dilate', dilate)
        if self.kh % 2 != 1:
            raise ValueError(f'kh must be odd, but is {self.kh}')
        if self.kw % 2 != 1:
            raise ValueError(f'kw must be odd, but is {self.kw}')

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        (x_type,) = in_types
        type_check.expect(
            x_type.dtype.kind == 'f', x_type.ndim == 4, x_type.shape[1] >= self.kh * self.kw
        )

    def _groups(self, n_channels):
        """Yields the channels of each group and its move."""
        n_groups = self.kh * self.kw
        size = n_channels // n_groups
        directions = list(range(n_groups))
        # The group that stays is the last one, which takes the channels left over.
        directions[n_groups // 2], directions[-1] = directions[-1], directions[n_groups // 2]
        for i, direction in enumerate(directions):
            stop = n_channels if i == n_groups - 1 else (i + 1) * size
            y, x = divmod(direction, self.kw)
            yield (
                slice(i * size, stop),
                (y - self.kh // 2) * self.dy,
                (x - self.kw // 2) * self.dx,
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        y = cuda.get_array_module(x).zeros_like(x)
        for channels, dy, dx in self._groups(x.shape[1]):
            to_y, from_y = _overlap(x.shape[2], dy)
            to_x, from_x = _overlap(x.shape[3], dx)
            y[:, channels, to_y, to_x] = x[:, channels, from_y, from_x]
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        ys = []
        groups = list(self._groups(x.shape[1]))
        parts = chainerx.split(x, [channels.stop for channels, _, _ in groups[:-1]], axis=1)
        for part, (_, *moves) in zip(parts, groups):
            widths = [(0, 0), (0, 0)]
            overlaps = [_overlap(*pair) for pair in zip(x.shape[2:], moves)]
            for (to, _), size in zip(overlaps, x.shape[2:]):
                widths.append((min(to.start, size), max(size - to.stop, 0)))
            part = part[:, :, overlaps[0][1], overlaps[1][1]]
            ys.append(chainerx.pad(part, widths))
        return (chainerx.concatenate(ys, axis=1),)

    def _inverse(self):
        return Shift((self.kh, self.kw), (-self.dy, -self.dx))

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(self._inverse(), gys)


def _overlap(size, move):
    """Slices of the target and the source of a move along an axis."""
    length = max(size - abs(move), 0)
    start, source = max(move, 0), max(-move, 0)
    return slice(start, start + length), slice(source, source + length)


def shift(
    x: VariableLike, ksize: int | Sequence[int] = 3, dilate: int | Sequence[int] = 1
) -> Variable:
    """Shift function: moves each group of channels of images by a different distance.

    It splits the channels into ``kh * kw`` groups, one for each offset
    :math:`(u, v)` within a kernel: ``y[:, c, i, j] = x[:, c, i - u * dy, j - v * dx]``, with
    zeros from outside. The last group, which has the remaining channels, does not move; the last
    offset takes its place in the order of offsets.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``, with ``c >= kh * kw``.
        ksize (int or pair of int): Size of the kernel, odd.
        dilate (int or pair of int): Distance between offsets.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ValueError: If ``ksize`` is even.
        ~chainer.utils.type_check.InvalidType: If the shape or dtype of ``x`` does not fit.

    See: B. Wu et al., Shift: A Zero FLOP, Zero Parameter Alternative to Spatial Convolutions,
    CVPR 2018.

    .. admonition:: Example

        >>> x = np.arange(9, dtype=np.float32).reshape(1, 3, 1, 3)
        >>> F.shift(x, ksize=(1, 3)).array[0, :, 0]
        array([[1., 2., 0.],
               [0., 3., 4.],
               [6., 7., 8.]], dtype=float32)

    """
    return Shift(ksize, dilate).apply((x,))[0]
