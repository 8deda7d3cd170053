"""Views with which functions of CuPy arrays run on ChainerX's CUDA kernels.

They share the memory, and the work of both runs in CuPy's current stream, so nothing waits.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import chainerx
from chainer.backends import _streams, _transfer, cuda
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

_DTYPES = frozenset('bool int8 int16 int32 int64 uint8 float16 float32 float64'.split())
_to_chainerx: Any = _transfer.to_chainerx
_view_of_cupy: Any = _transfer.view_of_cupy
_cupy_view: Any = _transfer.cupy_view


@functools.cache
def _find_device(index: int) -> chainerx.Device | None:
    try:
        return chainerx.get_device('cuda', index)
    except chainerx.ChainerxError:
        return None


def _device_of(array: Any) -> chainerx.Device | None:
    """Device of ChainerX whose kernels can serve a CuPy array; ``None`` without one."""
    return _find_device(array.device.id) if type(array) is cuda.ndarray else None


def stream_of(arrays: Iterable[Any]) -> AbstractContextManager[Any]:
    """Makes ChainerX work in CuPy's current stream of the device that the arrays are on."""
    device = next((_device_of(x) for x in arrays if x is not None), None)
    return contextlib.nullcontext() if device is None else _streams.follow_cupy(device)


def _is_usual(array: Any, device: chainerx.Device) -> bool:
    return (
        type(array) is cuda.ndarray
        and array.flags.c_contiguous
        and array.size > 0
        and array.dtype.name in _DTYPES
        and array.device.id == device.index
    )


def inputs(
    arrays: Sequence[Any], requires_grad: Iterable[Any]
) -> tuple[chainerx.ndarray, ...] | None:
    """Views of arrays, in the graph if wanted; ``None`` if there is anything unusual about them."""
    device = _device_of(arrays[0])
    if device is None:
        return None
    if len({a.dtype for a in arrays if a is not None and a.dtype.kind == 'f'}) > 1:
        return None
    if not all([_is_usual(a, device) for a in arrays]):
        return None
    views = tuple([_view_of_cupy(a, device, a) for a in arrays])
    required = [x for x, r in zip(views, requires_grad) if r and x.dtype.kind == 'f']
    if required and not chainerx.is_backprop_required(device.context):
        return None
    for x in required:
        x.require_grad()
    return views


def outputs(
    xs: Sequence[chainerx.ndarray], ys: Sequence[chainerx.ndarray | None]
) -> tuple[tuple[Any, ...], Any]:
    """CuPy arrays of outputs, and the graph behind them, or ``None``."""
    return separate(ys, xs), _internal.subgraph(xs, ys)


def separate(
    arrays: Iterable[chainerx.ndarray | None], others: Iterable[chainerx.ndarray | None]
) -> tuple[Any, ...]:
    """CuPy arrays in C order that share memory with each other and with ``others`` nowhere."""
    taken = {x.data_ptr for x in others if x is not None}
    results = []
    for y in arrays:
        if y is not None:
            y = y.as_grad_stopped()
            if y.data_ptr in taken or not y.is_contiguous:
                y = y.copy()
            taken.add(y.data_ptr)
        results.append(None if y is None else _cupy_view(y, y))
    return tuple(results)


def gradients(grads: Iterable[Any]) -> list[chainerx.ndarray | None]:
    """Views of gradients, of any layout."""
    return [None if g is None else _to_chainerx(g) for g in grads]
