"""Windows of convolutions and pooling, with the paddings that Chainer has and ONNX states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_Sizes = Sequence[int]


def padding_behind(
    dims: Sequence[Any], ksize: _Sizes, stride: _Sizes, pad: _Sizes, dilate: _Sizes, cover_all: bool
) -> list[int]:
    """Padding behind the axes; with ``cover_all``, so much that the windows cover all elements."""
    if not cover_all:
        return list(pad)
    return [
        p + -(int(n) + 2 * p - ((k - 1) * d + 1)) % s
        for n, k, s, p, d in zip(dims, ksize, stride, pad, dilate)
    ]


def convolution(
    g: Any, xs: Sequence[Any], ksize: _Sizes, stride: _Sizes, pad: _Sizes, dilate: _Sizes,
    groups: int, cover_all: bool,
) -> Any:  # fmt: skip
    """``Conv`` of the input of the call, a weight and perhaps a bias."""
    behind = padding_behind(g.shape()[2:], ksize, stride, pad, dilate, cover_all)
    return g.Conv(
        *xs,
        kernel_shape=list(ksize),
        strides=list(stride),
        pads=[*pad, *behind],
        dilations=list(dilate),
        group=groups,
    )


def transposed_convolution(
    g: Any, xs: Sequence[Any], ksize: _Sizes, stride: _Sizes, pad: _Sizes, dilate: _Sizes | None,
    groups: int,
) -> Any:  # fmt: skip
    """``ConvTranspose`` to the shape of the output of the call."""
    sizes = zip(g.shape()[2:], g.out_shape()[2:], ksize, stride, pad, dilate or [1] * len(ksize))
    # What the output has beyond the least size. ONNX adds to the end only; a smaller one is cut.
    extra = [int(out - (s * (n - 1) + (k - 1) * d + 1 - 2 * p)) for n, out, k, s, p, d in sizes]
    return g.ConvTranspose(
        *xs,
        kernel_shape=list(ksize),
        strides=list(stride),
        pads=[*pad, *[p - min(e, 0) for p, e in zip(pad, extra)]],
        dilations=None if dilate is None else list(dilate),
        group=groups,
        output_padding=[max(e, 0) for e in extra],
    )
