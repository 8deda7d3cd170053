"""Indexing with slices, numbers and arrays."""

from __future__ import annotations

import functools
from typing import Any

import numpy

import chainer
from onnx_chainer._axes import Dim, Varying
from onnx_chainer._builder import Unsupported

_END = 2**62
_INDEX = -1  # an axis of the result that index arrays have


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
            if not g.is_constant(s):
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
    old = [s for s in parts if s is not None]
    numbers = [i for i, s in enumerate(old) if not _is_array(s) and not isinstance(s, slice)]
    cuts = {
        i: _bounds(s)
        for i, s in enumerate(old)
        if i in numbers or (isinstance(s, slice) and s != slice(None))
    }
    y = x
    if cuts:
        starts, ends, steps = zip(*cuts.values())
        y = g.slice(y, starts, ends, list(cuts), steps if any(s != 1 for s in steps) else None)
    y = g.squeeze(y, numbers)
    left = [s for i, s in enumerate(old) if i not in numbers]
    arrays = {i: s for i, s in enumerate(left) if _is_array(s)}
    rest = (i for i in range(len(left)) if i not in arrays)
    # The axes of the result: of the input, or new ones.
    kept = [s for s in parts if s is None or isinstance(s, slice)]
    layout: list[int | None] = [None if s is None else next(rest) for s in kept]
    if arrays:
        y, order = _take(g, y, arrays, len(left))
        place = _place_of_arrays(parts)
        n_index = len(order) - len([axis for axis in layout if axis is not None])
        layout[place:place] = [_INDEX] * n_index
        y = _arrange(g, y, order, [axis for axis in layout if axis is not None])
    y = g.unsqueeze(y, [i for i, axis in enumerate(layout) if axis is None])
    return g.Identity(x) if y == x else y


def _place_of_arrays(parts):
    """Where NumPy puts the axes of index arrays: where they are, or first if they are apart.

    A number beside arrays is an index array, too.
    """
    places = [i for i, s in enumerate(parts) if s is not None and not isinstance(s, slice)]
    is_block = places == list(range(places[0], places[-1] + 1))
    return places[0] if is_block else 0


def _arrange(g, y, order, wanted):
    """Brings the axes ``order`` of a value into another order."""
    if order == wanted:
        return y
    rest = iter(i for i, axis in enumerate(order) if axis == _INDEX)
    return g.Transpose(y, perm=[next(rest) if a == _INDEX else order.index(a) for a in wanted])


def _bounds(s):
    """Start, end and step of a slice, or of that of one element."""
    if not isinstance(s, slice):
        i = s if isinstance(s, Dim) else int(s)
        s = slice(i, None if i == -1 else i + 1)
    step = 1 if s.step is None else int(s.step)
    if step > 0:
        return 0 if s.start is None else s.start, _END if s.stop is None else s.stop, step
    return _END if s.start is None else s.start, -_END if s.stop is None else s.stop, step


def _index(g, s):
    """Name of an index array of int64."""
    if g.is_constant(s):
        return g.const(g.array(s).astype(numpy.int64))
    return g.cast(g.const(s), numpy.int64)


def _take(g, x, arrays, ndim):
    """Elements of ``x`` at index arrays, by axis; and where the axes of the result come from."""
    axes = sorted(arrays)
    names = [_index(g, arrays[a]) for a in axes]
    n = max(arrays[a].ndim for a in axes)
    rest = [i for i in range(ndim) if i not in axes]
    if len(axes) == 1:
        (axis,) = axes
        return g.Gather(x, names[0], axis=axis), [*rest[:axis], *[_INDEX] * n, *rest[axis:]]
    g.need(11, 'an index of several arrays')
    # Zeros in the shape that the arrays broadcast to.
    nothing = g.Mul(functools.reduce(g.Add, names), g.const(0, numpy.int64))
    columns = [g.unsqueeze(g.Add(name, nothing), [n]) for name in names]
    perm = [*axes, *rest]
    if perm != sorted(perm):
        x = g.Transpose(x, perm=perm)
    return g.GatherND(x, g.Concat(*columns, axis=n)), [*[_INDEX] * n, *rest]


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
