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

# Of the dtypes that both libraries have, since to read the name of a dtype takes longer.
_DTYPE_CHARS = frozenset('?bhilqBefd')
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


def serve(arrays: Sequence[Any]) -> bool:
    """Tells whether ChainerX has the device of CuPy arrays, of which the first one tells."""
    return _device_of(arrays[0]) is not None


def stream_of(arrays: Iterable[Any]) -> AbstractContextManager[Any]:
    """Makes ChainerX work in CuPy's current stream of the device that the arrays are on."""
    for array in arrays:
        if array is not None:
            device = _device_of(array)
            if device is not None:
                return _streams.follow_cupy(device)
    return contextlib.nullcontext()


def _is_usual(array: Any, index: int) -> bool:
    """Tells whether kernels take an array: not empty, no mirror image, and on their device."""
    return (
        type(array) is cuda.ndarray
        and array.size > 0
        and array.dtype.char in _DTYPE_CHARS
        and array.device.id == index
        and (array.flags.c_contiguous or min(array.strides) >= 0)
    )


def inputs(
    arrays: Sequence[Any], requires_grad: Iterable[Any]
) -> tuple[chainerx.ndarray, ...] | None:
    """Views of arrays, in the graph if wanted; ``None`` if there is anything unusual about them."""
    device = _device_of(arrays[0])
    if device is None:
        return None
    index = device.index
    float_dtype = None
    is_recorded = False
    views = []
    for array, is_required in zip(arrays, requires_grad):
        if not _is_usual(array, index):
            return None
        view = _view_of_cupy(array, device, array)
        dtype = array.dtype
        if dtype.kind == 'f':
            if float_dtype is not None and dtype != float_dtype:
                return None
            float_dtype = dtype
            if is_required:
                view.require_grad()
                is_recorded = True
        views.append(view)
    if is_recorded and not chainerx.is_backprop_required(device.context):
        return None
    return tuple(views)


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
    """Views of gradients, of any layout, for work in CuPy's current stream."""
    return [None if g is None else _view_of_cupy(g, _find_device(g.device.id), g) for g in grads]
