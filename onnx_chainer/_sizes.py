"""Expressions of sizes and arrays that vary with the dynamic axes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy

from onnx_chainer import onnx_helper
from onnx_chainer._axes import Dim, DynamicAxisError, Varying, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_chainer._builder import Builder

Expression = 'Callable[[], str]'


def _known(g: Builder) -> Iterator[tuple[Dim, Callable[[], str]]]:
    """Lengths of axes that nodes can read, those of the call's inputs first."""
    for i, name in enumerate(g.names):
        for axis, n in enumerate(g.shape(i)):
            if isinstance(n, Dim):
                yield n, lambda name=name, axis=axis: _read(g, name, axis)  # type: ignore[misc]
    axes = g.context.axes
    assert axes is not None
    for name, (i, axis) in axes.names.items():
        array = axes.traces[0].inputs[i].array
        yield axes.sizes[name], lambda a=array, axis=axis: _read(g, g.context.get_name(a), axis)  # type: ignore[misc]


def _read(g, name, axis):
    return g.Gather(g.Shape(name), g.ints([axis]), axis=0)


def _ratio(dim, known):
    """``k`` if ``dim`` is ``k`` times ``known``."""
    k, rest = divmod(dim.sizes[0], known.sizes[0])
    return k if not rest and dim == merge([k * n for n in known.sizes]) else None


def _find(g: Builder, dim: Dim) -> tuple[int, Callable[[], str]] | None:
    """Cost and expression of a size."""
    known = list(_known(g))
    for n, read in known:
        if n == dim:
            return 1, read
    for n, read in known:
        k = _ratio(dim, n)
        if k is not None:
            return 2, lambda read=read, k=k: g.Mul(read(), g.ints([k]))
    for n, read in known:
        slope = _slope(dim, n)
        if slope is not None:
            k, c = slope
            return 3, lambda r=read, k=k, c=c: g.Add(g.Mul(r(), g.ints([k])), g.ints([c]))
    distinct = list(dict(known).items())
    for (n, read), (m, other) in itertools.combinations_with_replacement(distinct, 2):
        product = n * m
        if isinstance(product, Dim):
            k = _ratio(dim, product)
            if k is not None:
                return 4, lambda a=read, b=other, k=k: g.Mul(g.Mul(a(), b()), g.ints([k]))
        for combined, op in ((n + m, 'Add'), (n - m, 'Sub'), (m - n, 'Sub')):
            c = dim - combined
            if isinstance(c, int):
                pair = (other, read) if op == 'Sub' and combined == m - n else (read, other)
                return 5, lambda p=pair, op=op, c=c: g.Add(
                    getattr(g, op)(p[0](), p[1]()), g.ints([c])
                )
    for n, read in known:
        for k in range(2, 65):
            for c in (*range(-k, k + 1),):
                if (n + c) // k == dim:
                    return 6, lambda r=read, k=k, c=c: g.Div(g.Add(r(), g.ints([c])), g.ints([k]))
    return None


def _slope(dim, known):
    """``k, c`` if ``dim`` is ``k`` times ``known`` plus ``c``."""
    other = next(i for i, n in enumerate(known.sizes) if n != known.sizes[0])
    rise, run = dim.sizes[other] - dim.sizes[0], known.sizes[other] - known.sizes[0]
    k, rest = divmod(rise, run)
    c = dim.sizes[0] - k * known.sizes[0]
    return (k, c) if not rest and dim == known * k + c else None


def cost(g: Builder, dim: Dim) -> int:
    """How hard it is to compute a size."""
    found = _find(g, dim)
    return 7 if found is None else found[0]


def size(g: Builder, dim: Dim) -> str:
    """Name of a vector of int64 with one size that varies."""
    found = _find(g, dim)
    if found is None:
        raise DynamicAxisError(f'no expression of the lengths of dynamic axes is {dim}')
    return found[1]()


def varying(g: Builder, x: Varying) -> str:
    """Name of an array or number that varies: a constant array, broadcast or counted out.

    Arrays of one value, arrays that repeat along the dynamic axes, ``arange`` and triangular masks
    have an expression.
    """
    values = [onnx_helper.as_numpy(v) for v in map(numpy.asarray, x.values)]
    if values[0].ndim == 0:
        return _number(g, values)
    if len({v.ndim for v in values}) > 1 or any(v.dtype != values[0].dtype for v in values):
        raise DynamicAxisError('a constant has another number of axes for another length')
    shape = merge([v.shape for v in values])
    for axis in range(len(shape)):
        first = [v.take([0], axis) for v in values]
        if all(_equal(v, numpy.broadcast_to(f, v.shape)) for v, f in zip(values, first)):
            values = first
    reduced = merge([v.shape for v in values])
    dynamic = [i for i, n in enumerate(reduced) if isinstance(n, Dim)]
    if not dynamic and all(_equal(v, values[0]) for v in values):
        y = g.const(values[0])
    elif len(dynamic) == 1 and values[0].size == values[0].shape[dynamic[0]]:
        y = _counted(g, values, reduced[dynamic[0]], len(shape) - dynamic[0] - 1)
    elif len(dynamic) == 2 and values[0].size == numpy.prod([values[0].shape[i] for i in dynamic]):
        y = _triangle(g, values, [reduced[i] for i in dynamic])
        y = g.unsqueeze(y, [i for i in range(len(shape)) if i not in dynamic])
    else:
        y = None
    if y is None:
        raise DynamicAxisError(
            f'an array of shape {values[0].shape}, which is computed outside of functions of '
            'Chainer, depends on the length of a dynamic axis'
        )
    return y if shape == reduced else g.expand(y, shape)


def _equal(a, b):
    return numpy.array_equal(a, b, equal_nan=a.dtype.kind == 'f')


def _number(g, values):
    """A number: ``c * n`` or ``c / n`` of a size ``n``."""
    dtype = values[0].dtype
    numbers = [float(v) for v in values]
    for n, read in _known(g):
        for op, factors in (
            ('Mul', [v / s for v, s in zip(numbers, n.sizes)]),
            ('Div', [v * s for v, s in zip(numbers, n.sizes)]),
        ):
            if numpy.allclose(factors, factors[0], rtol=1e-6, atol=0):
                size = g.as_scalar(g.cast(read(), dtype))
                return getattr(g, op)(g.const(numpy.array(factors[0], dtype)), size)
    raise DynamicAxisError(f'a number depends on the length of a dynamic axis: {numbers}')


def _counted(g, values, n, n_following):
    """``arange`` with a start and a step."""
    flat = [v.ravel() for v in values]
    longest = max(flat, key=len)
    if longest.dtype.kind == 'b':
        return None
    start, step = longest[0], longest[1] - longest[0]
    counts = numpy.arange(len(longest)).astype(longest.dtype)
    if not numpy.allclose(longest, start + step * counts, rtol=1e-6, atol=1e-6):
        return None
    if not all(_equal(v, longest[: len(v)]) for v in flat):
        return None
    y = g.arange(n, longest.dtype)
    if step != 1:
        y = g.Mul(y, g.const(step))
    if start != 0:
        y = g.Add(y, g.const(start))
    return g.unsqueeze(y, list(range(1, n_following + 1)))


def _triangle(g, values, sizes):
    """Matrix with one value on and below a diagonal, and another one above it."""
    matrices = [v.reshape([n for n in v.shape if n > 1] if v.size > 1 else (1, 1)) for v in values]
    largest = max(matrices, key=numpy.size)
    if largest.ndim != 2:
        return None
    low, high = largest[-1, 0], largest[0, -1]
    for k in range(-2, 3):
        lower = [numpy.tri(m.shape[0], m.shape[1], k, bool) for m in matrices]
        if all(_equal(m, numpy.where(is_low, low, high)) for m, is_low in zip(matrices, lower)):
            rows, columns = [g.arange(n) for n in sizes]
            rows = g.unsqueeze(g.Add(rows, g.const(k + 1, numpy.int64)), [1])
            is_low = g.Greater(rows, g.unsqueeze(columns, [0]))
            if low.dtype.kind == 'b':
                return is_low if low else g.Not(is_low)
            return g.Where(is_low, g.const(low), g.const(high))
    return None
