"""Operators that move elements: shapes, axes, joins and parts."""

from __future__ import annotations

import itertools
import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, HOST, operator, operators


@operator('Reshape', lists=(1,), any_dtype=True)
def reshape(x, shape, *, allowzero):
    if not allowzero:
        if any(n == 0 for n in shape[x.ndim :]):
            raise ValueError(f'the shape {shape} takes a dimension that {x.shape} has not')
        shape = [x.shape[i] if n == 0 else n for i, n in enumerate(shape)]
    if any(n < -1 for n in shape):
        raise ValueError(f'the shape {shape} has a negative dimension')
    if -1 in shape and x.size == 0:
        known = math.prod(n for n in shape if n != -1)
        shape = [(x.size // known if known else 0) if n == -1 else n for n in shape]
    return F.reshape(x, tuple(shape))


@operator('Flatten', any_dtype=True)
def flatten(x, *, axis):
    if axis != x.ndim:
        axis = v.axis_of(axis, x.ndim)
    return F.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def _unsqueeze(x, axes):
    # NumPy refuses axes that are not there or not distinct.
    return F.reshape(x, np.expand_dims(np.broadcast_to(0, x.shape), tuple(axes)).shape)


operators(
    {'Squeeze': lambda x, axes: F.squeeze(x, v.axes_of(axes, x.ndim)), 'Unsqueeze': _unsqueeze},
    lists=(1,),
    any_dtype=True,
)
operators(
    {
        'Transpose': lambda x, *, perm: F.transpose(x, perm),
        'Concat': lambda *xs, axis: F.concat(xs, axis=1 if axis is None else axis),
    },
    any_dtype=True,
)


@operator('Split', lists=(1,), any_dtype=True)
def split(node, x, sizes, *, axis, num_outputs):
    length = x.shape[v.axis_of(axis, x.ndim)]
    count = len(node.outputs)
    if num_outputs not in (None, count):
        raise ValueError(f'num_outputs is {num_outputs}, and the node has {count} outputs')
    if sizes is None:
        each = -(-length // count)
        sizes = [min(each, length - i * each) for i in range(count)]
    if len(sizes) != count:
        raise ValueError(f'there are {len(sizes)} sizes for {count} outputs')
    return tuple(parts(x, axis, sizes))


def part(x, axis, index):
    """``x`` indexed along an axis."""
    return F.get_item(x, (slice(None),) * (axis % x.ndim) + (index,))


def parts(x, axis, sizes):
    """Parts of an axis, of which each begins where the one before ends."""
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 0:
        raise ValueError(f'the sizes {sizes} do not add up to {x.shape[axis]}')
    ends = itertools.accumulate(sizes)
    return [part(x, axis, slice(end - size, end)) for size, end in zip(sizes, ends)]


@operator('Slice', lists=(1, 2, 3, 4), any_dtype=True)
def slices(x, starts, ends, axes, steps):
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ValueError('starts, ends, axes and steps differ in their lengths')
    index = [slice(None)] * x.ndim
    axes = [v.axis_of(axis, x.ndim) for axis in axes]
    if len(set(axes)) != len(axes):
        raise ValueError(f'an axis is given twice in {axes}')
    for start, end, axis, step in zip(starts, ends, axes, steps):
        if step == 0:
            raise ValueError('a step is zero')
        most = x.shape[axis] + 1  # longer steps reach nothing else, and could overflow
        index[axis] = slice(start, end, max(min(step, most), -most))
    return F.get_item(x, tuple(index))


@operator('Tile', host=(1,), scalars=(2,), any_dtype=True)
def tile(x, repeats, axis):
    if axis is not None:  # opset 1: one number for one axis
        reps = [1] * x.ndim
        reps[axis] = v.scalar(repeats)
    else:
        reps = v.ints(repeats)
    if len(reps) != x.ndim:
        raise ValueError(f'{len(reps)} repeats for {x.ndim} axes')
    v.checked_size([n * r for n, r in zip(x.shape, reps)], x.dtype.itemsize)
    return F.tile(x, tuple(reps))


@operator('Expand', lists=(1,), any_dtype=True)
def expand(x, shape):
    shape = np.broadcast_shapes(x.shape, tuple(shape))
    v.checked_size(shape, x.dtype.itemsize)
    return F.broadcast_to(x, shape)


@operator('Pad', lists=(1, 3), host=(2,), any_dtype=True)
def pad(x, widths, fill, axes, *, mode, paddings, value):
    widths = paddings if widths is None else widths  # opset 1: of another name
    axes = range(x.ndim) if axes is None else axes
    count = len(axes)
    if len(widths) != 2 * count:
        raise ValueError(f'{len(widths)} widths for {count} axes')
    pairs = [(0, 0)] * x.ndim
    for axis, before, behind in zip(axes, widths[:count], widths[count:]):
        pairs[v.axis_of(axis, x.ndim)] = (before, behind)
    shape = [n + before + behind for n, (before, behind) in zip(x.shape, pairs)]
    v.checked_size(shape, x.dtype.itemsize)
    x, pairs = v.cut(x, pairs)
    if not any(map(any, pairs)):
        return F.identity(x)
    if mode == 'constant':
        value = value if fill is None else fill.reshape(()).item()
        if v.is_float(x):
            return F.pad(x, pairs, mode, constant_values=value)
        value = x.dtype.type(value)
        return v.calling_arrays(lambda a: v.xp_of(a).pad(a, pairs, mode, constant_values=value), x)
    for axis, pair in enumerate(pairs):
        if any(pair):
            places = np.pad(np.arange(x.shape[axis]), pair, mode)
            x = part(x, axis, v.like(x, places))
    return x


def _rearranged(x, before, order, after):
    return F.reshape(F.transpose(F.reshape(x, before), order), after)


@operator('DepthToSpace', any_dtype=True)
def depth_to_space(x, *, blocksize, mode):
    batch, channels, *size = x.shape
    inner = channels // blocksize**2
    after = (batch, inner, *(n * blocksize for n in size))
    blocks = (blocksize, blocksize)
    if mode == 'DCR':
        return _rearranged(x, (batch, *blocks, inner, *size), (0, 3, 4, 1, 5, 2), after)
    return _rearranged(x, (batch, inner, *blocks, *size), (0, 1, 4, 2, 5, 3), after)


@operator('SpaceToDepth', any_dtype=True)
def space_to_depth(x, *, blocksize, mode):
    batch, channels, height, width = x.shape
    rows, columns = height // blocksize, width // blocksize
    order = (0, 3, 5, 1, 2, 4) if mode == 'DCR' else (0, 1, 3, 5, 2, 4)
    before = (batch, channels, rows, blocksize, columns, blocksize)
    return _rearranged(x, before, order, (batch, channels * blocksize**2, rows, columns))


@operator('Trilu', scalars=(1,), any_dtype=True)
def trilu(x, k=0, *, upper):
    rows, columns = x.shape[-2:]
    k = max(min(k, columns + 1), -rows - 1)
    ones = np.ones((rows, columns), bool)
    mask = np.triu(ones, k) if upper else np.tril(ones, k)
    return F.where(v.like(x, mask), x, 0)


@operator('ReverseSequence', host=(1,), any_dtype=True)
def reverse_sequence(x, lengths, *, batch_axis, time_axis):
    length, count = x.shape[time_axis], x.shape[batch_axis]
    if lengths.shape != (count,) or (count and not 0 <= lengths.min() <= lengths.max() <= length):
        raise ValueError(f'the lengths must be {count} numbers from 0 to {length}')
    steps = np.arange(length)[:, None]
    lengths = lengths[None, :]
    places = np.where(steps < lengths, lengths - 1 - steps, steps)
    swapped = F.moveaxis(x, (time_axis, batch_axis), (0, 1))
    y = F.get_item(swapped, (v.like(x, places), v.like(x, np.arange(count))))
    return F.moveaxis(y, (0, 1), (time_axis, batch_axis))


operators(
    {
        'Shape': lambda x, *, start, end: np.array(x.shape[start:end], np.int64),
        'Size': lambda x: np.array(x.size, np.int64),
    },
    takes=HOST,
)


@operator('OneHot', takes=HOST, scalars=(1,))
def one_hot(indices, depth, values, *, axis):
    depth = int(depth)
    v.checked_size((*indices.shape, depth), values.dtype.itemsize)
    axis = v.axis_of(axis, indices.ndim + 1)
    steps = v.along_axis(np.arange(depth), axis, indices.ndim + 1)
    indices = indices.astype(np.int64)
    inside = (indices >= -depth) & (indices < depth)
    hot = np.expand_dims(np.where(inside, indices % max(depth, 1), -1), axis) == steps
    return np.where(hot, values[1], values[0]).astype(values.dtype)


@operator('NonZero', takes=ARRAYS)
def non_zero(x):
    xp = v.xp_of(x)
    return xp.stack(xp.nonzero(xp.atleast_1d(x))).astype(np.int64)


@operator('Unique', takes=HOST)
def unique(x, *, axis, sorted):
    y, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.ravel()
    if not sorted:
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        y = np.take(y, order, axis=0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    return y, *(i.astype(np.int64) for i in (first, inverse, counts))
