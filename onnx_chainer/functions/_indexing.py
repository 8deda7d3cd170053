"""Indexing with slices, numbers and arrays."""

from __future__ import annotations

from typing import Any

import numpy

import chainer
from onnx_chainer._axes import Dim, Varying
from onnx_chainer._builder import Unsupported

_END = 2**62


def _is_array(s):
    kinds = (list, tuple, Varying, *chainer.get_array_types())
    return isinstance(s, kinds) and getattr(s, 'shape', (1,)) != ()


def _without_masks(g: Any, slices: Any) -> list[Any]:
    """Indices in which each mask is replaced by the positions of its true elements."""
    result: list[Any] = []
    for s in slices:
        if isinstance(s, (list, tuple)):
            s = numpy.asarray(s)
        if _is_array(s) and s.dtype.kind == 'b':
            if isinstance(s, Varying) or g.context.knows(s):
                raise Unsupported('a mask that depends on the input')
            result += numpy.nonzero(g.array(s))
        else:
            result.append(s)
    return result


def _parts(g: Any, slices: Any) -> list[Any]:
    """One index for each axis of the input and for each new axis."""
    indices = _without_masks(g, slices)
    n_axes = sum(s is not None and s is not Ellipsis for s in indices)
    rest = [slice(None)] * (g.ndim() - n_axes)
    at = next((i for i, s in enumerate(indices) if s is Ellipsis), len(indices))
    return [*indices[:at], *rest, *indices[at + 1 :]]


def get(g: Any, slices: Any, x: str) -> Any:
    """Name of ``x[slices]``."""
    parts = _parts(g, slices)
    bounds: list[tuple[Any, Any, int, int]] = []
    removed: list[int] = []
    new_axes: list[int] = []
    arrays: dict[int, Any] = {}
    axis = position = 0
    for s in parts:
        if s is None:
            new_axes.append(position)
            position += 1
            continue
        if _is_array(s):
            arrays[axis - len(removed)] = s
        elif isinstance(s, slice):
            if s != slice(None):
                start, end, step = _bounds(s)
                bounds.append((start, end, axis, step))
            position += 1
        else:
            i = s if isinstance(s, Dim) else int(s)
            bounds.append((i, _END if isinstance(i, int) and i == -1 else i + 1, axis, 1))
            removed.append(axis)
        axis += 1
    if arrays and (removed or new_axes):
        _check_order(parts)
    y = x
    if bounds:
        starts, ends, axes, steps = (list(values) for values in zip(*bounds))
        y = g.slice(y, starts, ends, axes, steps if any(s != 1 for s in steps) else None)
    y = g.squeeze(y, removed)
    if arrays:
        return _take(g, y, arrays, g.ndim() - len(removed))
    y = g.unsqueeze(y, new_axes)
    return g.Identity(x) if y == x else y


def _check_order(parts):
    """Arrays next to numbers or new axes move axes in NumPy's way, which is not done here."""
    places = [i for i, s in enumerate(parts) if not isinstance(s, slice)]
    has_new = any(s is None for s in parts)
    if has_new or places != list(range(places[0], places[-1] + 1)):
        raise Unsupported('an index that mixes arrays with numbers or new axes')


def _bounds(s):
    step = 1 if s.step is None else int(s.step)
    if step > 0:
        return 0 if s.start is None else s.start, _END if s.stop is None else s.stop, step
    return _END if s.start is None else s.start, -_END if s.stop is None else s.stop, step


def _index(g, s):
    """Name of an index array of int64."""
    if isinstance(s, Varying) or g.context.knows(s):
        return g.cast(g.const(s), numpy.int64)
    return g.const(g.array(s).astype(numpy.int64))


def _take(g, x, arrays, ndim):
    """Elements of ``x`` at index arrays, by axis."""
    axes = sorted(arrays)
    names = [_index(g, arrays[a]) for a in axes]
    if len(axes) == 1:
        return g.Gather(x, names[0], axis=axes[0])
    g.need(11, 'an index of several arrays')
    rest = [i for i in range(ndim) if i not in axes]
    # NumPy puts the axes of the index where the arrays are, or first if these are apart.
    is_block = axes == list(range(axes[0], axes[-1] + 1))
    first = axes[0] if is_block else 0
    n = max(arrays[a].ndim for a in axes)
    zero = g.const(0, numpy.int64)
    total = names[0]
    for name in names[1:]:
        total = g.Add(total, name)
    nothing = g.Mul(total, zero)
    columns = [g.unsqueeze(g.Add(name, nothing), [n]) for name in names]
    y = g.GatherND(g.Transpose(x, perm=[*axes, *rest]), g.Concat(*columns, axis=n))
    order = [*range(n, n + first), *range(n), *range(n + first, n + len(rest))]
    return y if order == sorted(order) else g.Transpose(y, perm=order)


def add(g: Any, slices: Any, a: str, b: str) -> Any:
    """Name of a copy of ``a`` with ``b`` added at ``a[slices]``."""
    shape = [int(n) for n in g.shape()]
    size = int(numpy.prod(shape))
    index = tuple(g.array(s) if _is_array(s) else s for s in slices)
    places = numpy.arange(size).reshape(shape)[index].reshape(-1, 1).astype(numpy.int64)
    flat, values = g.reshape(a, [size]), g.reshape(g.cast(b, g.dtype()), [len(places)])
    if g.opset >= 16:
        y = g.ScatterND(flat, places, values, reduction='add')
    else:
        # Each element of the result adds the values that go there.
        chosen = numpy.zeros((size, len(places)), g.dtype())
        chosen[places[:, 0], numpy.arange(len(places))] = 1
        y = g.Add(flat, g.MatMul(chosen, values))
    return g.reshape(y, shape)
