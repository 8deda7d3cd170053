"""Indexing with slices, numbers and arrays."""

from __future__ import annotations

from typing import Any

import numpy

import chainer
from onnx_chainer._axes import Dim, Varying
from onnx_chainer._builder import Unsupported


def _parts(g: Any, slices: Any) -> list[Any]:
    """One index for each axis of the input and for each new axis."""
    n_axes = sum(
        1 if getattr(s, 'dtype', None) is None or s.dtype.kind != 'b' else s.ndim
        for s in slices
        if s is not None and s is not Ellipsis
    )
    rest = [slice(None)] * (g.ndim() - n_axes)
    at = next((i for i, s in enumerate(slices) if s is Ellipsis), len(slices))
    return [*slices[:at], *rest, *slices[at + 1 :]]


def _is_array(s):
    return isinstance(s, (list, tuple, Varying, *chainer.get_array_types())) and (
        not getattr(s, 'shape', (1,)) == ()
    )


def get(g: Any, slices: Any, x: str) -> Any:
    """Name of ``x[slices]``."""
    parts = _parts(g, slices)
    shape = g.shape()
    starts, ends, axes, steps = [], [], [], []
    removed, new_axes, arrays = [], [], {}
    axis = 0
    position = 0
    for s in parts:
        if s is None:
            new_axes.append(position)
            position += 1
            continue
        if isinstance(s, slice):
            if s != slice(None):
                start, end, step = _bounds(s)
                starts.append(start)
                ends.append(end)
                axes.append(axis)
                steps.append(step)
        elif _is_array(s):
            arrays[axis] = s
            position -= 1 if len(arrays) > 1 else 0
        else:
            i = s if isinstance(s, Dim) else int(s)
            starts.append(i)
            ends.append(2**62 if isinstance(i, int) and i == -1 else i + 1)
            axes.append(axis)
            steps.append(1)
            removed.append(axis)
            position -= 1
        axis += 1
        position += 1
    if arrays and (removed or new_axes) and len(parts) > 1:
        _check_order(parts)
    y = x
    if axes:
        y = g.slice(y, starts, ends, axes, steps if any(s != 1 for s in steps) else None)
    y = g.squeeze(y, removed)
    if arrays:
        shift = {a: a - sum(r < a for r in removed) for a in arrays}
        y = _take(
            g, y, {shift[a]: s for a, s in arrays.items()}, shape, arrays, len(shape) - len(removed)
        )
    y = g.unsqueeze(y, new_axes)
    return g.Identity(x) if y == x else y


def _check_order(parts):
    """Arrays and numbers that are apart move axes in NumPy's way."""
    places = [i for i, s in enumerate(parts) if s is not None and not isinstance(s, slice)]
    if places != list(range(places[0], places[-1] + 1)) or None in parts:
        raise Unsupported('an index that mixes arrays with numbers or new axes')


def _bounds(s):
    step = 1 if s.step is None else int(s.step)
    if step > 0:
        return 0 if s.start is None else s.start, 2**62 if s.stop is None else s.stop, step
    return (
        2**62 if s.start is None else s.start,
        -(2**62) if s.stop is None else s.stop,
        step,
    )


def _index(g, s):
    """Name of an index array of int64, and its number of axes."""
    if isinstance(s, (list, tuple)):
        s = numpy.asarray(s)
    if s.dtype.kind == 'b':
        return None, s.ndim
    is_known = not isinstance(s, Varying) and g.context.knows(s)
    if is_known or isinstance(s, Varying):
        return g.cast(g.const(s), numpy.int64), s.ndim
    return g.const(g.array(s).astype(numpy.int64)), s.ndim


def _take(g, x, arrays, shape, original, ndim):
    axes = sorted(arrays)
    if len(axes) == 1:
        (axis,) = axes
        s = arrays[axis]
        if not isinstance(s, (list, tuple, Varying)) and s.dtype.kind == 'b':
            if g.context.knows(s):
                raise Unsupported('a mask that depends on the input')
            places = numpy.nonzero(g.array(s))
            arrays = {axis + i: p for i, p in enumerate(places)}
            original = {a + i: p for a in original for i, p in enumerate(places)}
            if len(places) > 1:
                return _take(g, x, arrays, shape, original, ndim)
            s = places[0]
        index, _ = _index(g, s)
        return g.Gather(x, index, axis=axis)
    if axes != list(range(axes[0], axes[-1] + 1)):
        # NumPy puts the axes of separated indices first.
        order = axes + [i for i in range(ndim) if i not in axes]
        x = g.Transpose(x, perm=order)
        first = 0
    else:
        first = axes[0]
    lengths = [int(shape[a]) for a in sorted(original)]
    # One index into the flat axes; negative ones count from the end.
    flat = None
    names = [_index(g, arrays[a])[0] for a in axes]
    for name, n in zip(names, lengths):
        index = g.Where(
            g.Less(name, g.const(0, numpy.int64)), g.Add(name, g.const(n, numpy.int64)), name
        )
        flat = index if flat is None else g.Add(g.Mul(flat, g.const(n, numpy.int64)), index)
    before = [0] * first
    y = g.Reshape(x, g.ints([*before, *_flattened(g, x, shape, original, first, lengths)]))
    return g.Gather(y, flat, axis=first)


def _flattened(g, x, shape, original, first, lengths):
    """Shape after the axes before: the indexed axes as one, and the rest, which must be fixed."""
    rest = [n for a, n in enumerate(shape) if a not in original][first:]
    size = int(numpy.prod(lengths))
    dims = [i for i, n in enumerate(rest) if isinstance(n, Dim)]
    if len(dims) > 1:
        raise Unsupported('an index of several arrays before several dynamic axes')
    return [size, *[-1 if isinstance(n, Dim) else n for n in rest]]


def add(g: Any, slices: Any, a: str, b: str) -> Any:
    """Name of a copy of ``a`` with ``b`` added at ``a[slices]``."""
    shape = [int(n) for n in g.shape()]
    size = int(numpy.prod(shape))
    index = tuple(
        s if isinstance(s, (slice, int, type(None), type(Ellipsis))) else g.array(s) for s in slices
    )
    if any(_is_array(s) and g.context.knows(s) for s in slices if not isinstance(s, (list, tuple))):
        raise Unsupported('an index that depends on the input')
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
