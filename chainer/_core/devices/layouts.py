"""Memory layouts: orders of the axes of a variable's array in memory."""

from __future__ import annotations

from typing import Any

from chainer import backend

CUDNN_CHANNEL_FIRST_X = 'CUDNN_CHANNEL_FIRST_X'
CUDNN_CHANNEL_LAST_X = 'CUDNN_CHANNEL_LAST_X'
CUDNN_CHANNEL_FIRST_W = 'CUDNN_CHANNEL_FIRST_W'
CUDNN_CHANNEL_LAST_W = 'CUDNN_CHANNEL_LAST_W'

_channel_last = (CUDNN_CHANNEL_LAST_X, CUDNN_CHANNEL_LAST_W)
LAYOUTS = (None, CUDNN_CHANNEL_FIRST_X, CUDNN_CHANNEL_FIRST_W, *_channel_last)


def _get_layout_transpose_axes(
    ndim: int, src_layout: str | None, dst_layout: str | None
) -> tuple[int, ...] | None:
    """Axes that transpose an array between layouts, ``None`` if none is needed."""
    for layout in (src_layout, dst_layout):
        if layout not in LAYOUTS:
            raise ValueError(f'Unknown memory layout: {layout!r}')
    src_last = src_layout in _channel_last
    dst_last = dst_layout in _channel_last
    if src_last == dst_last:
        return None
    if ndim < 2:
        raise ValueError(
            f'Arrays of {ndim} dimensions have no channel axis for the memory layout '
            f'{dst_layout or src_layout}'
        )
    if dst_last:
        return (0, *range(2, ndim), 1)
    return (0, ndim - 1, *range(1, ndim - 1))


def transpose_array(arr: Any, src_layout: str | None, dst_layout: str | None) -> Any:
    axes = _get_layout_transpose_axes(arr.ndim, src_layout, dst_layout)
    if axes is None:
        return arr
    return backend.get_array_module(arr).ascontiguousarray(arr.transpose(axes))


def transpose_shape(
    shape: tuple[int, ...], src_layout: str | None, dst_layout: str | None
) -> tuple[int, ...]:
    axes = _get_layout_transpose_axes(len(shape), src_layout, dst_layout)
    return shape if axes is None else tuple([shape[axis] for axis in axes])
