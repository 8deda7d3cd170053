"""Operators that move elements: shapes, axes, joins and parts."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, HOST, operator


@operator('Reshape', host=(1,), any_dtype=True)
def reshape(node, x, wanted=None, /, *, allowzero=0, shape=None, consumed_inputs=None):
    shape = v.ints(shape if wanted is None else wanted)
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
def flatten(node, x, /, *, axis=1):
    if axis != x.ndim:
        axis = v.axis_of(axis, x.ndim)
    return F.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator('Transpose', any_dtype=True)
def transpose(node, x, /, *, perm=None):
    if perm is not None and sorted(perm) != list(range(x.ndim)):
        raise ValueError(f'perm is {perm}, no permutation of {x.ndim} axes')
    return F.transpose(x, perm)


def _axes(given, attribute, ndim):
    axes = v.ints(attribute if given is None else given)
    if axes is None:
        return None
    return tuple(v.axis_of(axis, ndim) for axis in axes)


@operator('Squeeze', host=(1,), any_dtype=True)
def squeeze(node, x, given=None, /, *, axes=None):
    axes = _axes(given, axes, x.ndim)
    if axes is None:
        axes = tuple(i for i, n in enumerate(x.shape) if n == 1)
    for axis in axes:
        if x.shape[axis] != 1:
            raise ValueError(f'axis {axis} of the shape {x.shape} is not one')
    return F.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in axes))


@operator('Unsqueeze', host=(1,), any_dtype=True)
def unsqueeze(node, x, given=None, /, *, axes=None):
    count = len(v.ints(axes if given is None else given))
    axes = _axes(given, axes, x.ndim + count)
    if len(set(axes)) != count:
        raise ValueError(f'the axes {axes} are not distinct')
    rest = iter(x.shape)
    return F.reshape(x, tuple(1 if i in axes else next(rest) for i in range(x.ndim + count)))


@operator('Concat', any_dtype=True)
def concat(node, first, /, *rest, axis=1):
    return F.concat((first, *rest), axis=axis)


@operator('Split', host=(1,), any_dtype=True)
def split(node, x, sizes=None, /, *, axis=0, num_outputs=None, split=None):
    sizes = v.ints(split if sizes is None else sizes)
    length = x.shape[v.axis_of(axis, x.ndim)]
    count = len(node.outputs)
    if num_outputs not in (None, count):
        raise ValueError(f'num_outputs is {num_outputs}, and the node has {count} outputs')
    if sizes is None:
        each = -(-length // count)
        sizes = [min(each, length - i * each) for i in range(count)]
    if len(sizes) != count:
        raise ValueError(f'there are {len(sizes)} sizes for {count} outputs')
    if sum(sizes) != length or min(sizes) < 0:
        raise ValueError(f'the sizes {sizes} do not add up to {length}')
    ends = np.cumsum(sizes)
    return tuple(part(x, axis, slice(end - size, end)) for size, end in zip(sizes, map(int, ends)))


def part(x, axis, index):
    """``x`` indexed along an axis."""
    return F.get_item(x, (slice(None),) * (axis % x.ndim) + (index,))


@operator('Slice', host=(1, 2, 3, 4), any_dtype=True)
def slices(
    node, x, first=None, last=None, on=None, steps=None, /, *, starts=None, ends=None, axes=None
):
    starts = v.ints(starts if first is None else first)
    ends = v.ints(ends if last is None else last)
    axes = v.ints(axes if on is None else on)
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else v.ints(steps)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ValueError('starts, ends, axes and steps differ in their lengths')
    index = [slice(None)] * x.ndim
    axes = [v.axis_of(axis, x.ndim) for axis in axes]
    if len(set(axes)) != len(axes):
        raise ValueError(f'an axis is given twice in {axes}')
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index[axis] = _slice(start, end, step, x.shape[axis])
    return F.get_item(x, tuple(index))


def _slice(start, end, step, length):
    if step == 0:
        raise ValueError('a step is zero')
    start, end, step = slice(start, end, max(min(step, length + 1), -length - 1)).indices(length)
    return slice(start, None if end < 0 else end, step)


@operator('Tile', host=(1, 2), any_dtype=True)
def tile(node, x, repeats, axis=None, /):
    if axis is not None:  # opset 1: one number for one axis
        reps = [1] * x.ndim
        reps[v.scalar(axis)] = v.scalar(repeats)
    else:
        reps = v.ints(repeats)
    if len(reps) != x.ndim:
        raise ValueError(f'{len(reps)} repeats for {x.ndim} axes')
    v.checked_size([n * r for n, r in zip(x.shape, reps)], x.dtype.itemsize)
    return F.tile(x, tuple(reps))


@operator('Expand', host=(1,), any_dtype=True)
def expand(node, x, shape, /):
    shape = np.broadcast_shapes(x.shape, tuple(v.ints(shape)))
    v.checked_size(shape, x.dtype.itemsize)
    return F.broadcast_to(x, shape)


@operator('Pad', host=(1, 2, 3), any_dtype=True)
def pad(
    node,
    x,
    widths=None,
    fill=None,
    on=None,
    /,
    *,
    mode='constant',
    pads=None,
    paddings=None,
    value=0.0,
):
    widths = v.ints(widths if widths is not None else (pads or paddings))
    axes = range(x.ndim) if on is None else v.ints(on)
    count = len(axes)
    if len(widths) != 2 * count:
        raise ValueError(f'{len(widths)} widths for {count} axes')
    pairs = [(0, 0)] * x.ndim
    for axis, before, behind in zip(axes, widths[:count], widths[count:]):
        pairs[v.axis_of(axis, x.ndim)] = (before, behind)
    shape = [n + before + behind for n, (before, behind) in zip(x.shape, pairs)]
    v.checked_size(shape, x.dtype.itemsize)
    if any(before < 0 or behind < 0 for before, behind in pairs):
        x = F.get_item(
            x,
            tuple(
                slice(max(-before, 0), n - max(-behind, 0))
                for n, (before, behind) in zip(x.shape, pairs)
            ),
        )
        pairs = [(max(before, 0), max(behind, 0)) for before, behind in pairs]
    if not any(map(any, pairs)):
        return F.identity(x)
    if mode == 'constant':
        value = value if fill is None else fill.reshape(()).item()
        if v.is_float(x):
            return F.pad(x, pairs, 'constant', constant_values=value)
        return v.calling_arrays(
            lambda a: v.xp_of(a).pad(a, pairs, 'constant', constant_values=a.dtype.type(value)),
            x,
        )
    for axis, pair in enumerate(pairs):
        if any(pair):
            places = np.pad(np.arange(x.shape[axis]), pair, mode)
            x = part(x, axis, v.like(x, places))
    return x


@operator('DepthToSpace', any_dtype=True)
def depth_to_space(node, x, /, *, blocksize, mode='DCR'):
    batch, channels, height, width = x.shape
    inner = channels // blocksize**2
    if mode == 'DCR':
        x = F.reshape(x, (batch, blocksize, blocksize, inner, height, width))
        x = F.transpose(x, (0, 3, 4, 1, 5, 2))
    else:
        x = F.reshape(x, (batch, inner, blocksize, blocksize, height, width))
        x = F.transpose(x, (0, 1, 4, 2, 5, 3))
    return F.reshape(x, (batch, inner, height * blocksize, width * blocksize))


@operator('SpaceToDepth', any_dtype=True)
def space_to_depth(node, x, /, *, blocksize, mode='DCR'):
    batch, channels, height, width = x.shape
    rows, columns = height // blocksize, width // blocksize
    x = F.reshape(x, (batch, channels, rows, blocksize, columns, blocksize))
    axes = (0, 3, 5, 1, 2, 4) if mode == 'DCR' else (0, 1, 3, 5, 2, 4)
    x = F.transpose(x, axes)
    return F.reshape(x, (batch, channels * blocksize**2, rows, columns))


@operator('Trilu', host=(1,), any_dtype=True)
def trilu(node, x, k=None, /, *, upper=1):
    k = 0 if k is None else v.scalar(k)
    rows, columns = x.shape[-2:]
    k = max(min(k, columns + 1), -rows - 1)
    ones = np.ones((rows, columns), bool)
    mask = np.triu(ones, k) if upper else np.tril(ones, k)
    return F.where(
        v.like(x, np.broadcast_to(mask, x.shape).copy()),
        x,
        v.like(x, np.zeros(x.shape, x.dtype)),
    )


@operator('ReverseSequence', host=(1,), any_dtype=True)
def reverse_sequence(node, x, lengths, /, *, batch_axis=1, time_axis=0):
    length, count = x.shape[time_axis], x.shape[batch_axis]
    if time_axis == batch_axis:
        raise ValueError(f'time_axis and batch_axis are both {time_axis}')
    if lengths.shape != (count,) or (count and not 0 <= lengths.min() <= lengths.max() <= length):
        raise ValueError(f'the lengths must be {count} numbers from 0 to {length}')
    steps = np.arange(length)[:, None]
    lengths = lengths[None, :]
    places = np.where(steps < lengths, lengths - 1 - steps, steps)
    swapped = F.moveaxis(x, (time_axis, batch_axis), (0, 1))
    columns = np.broadcast_to(np.arange(places.shape[1]), places.shape).copy()
    y = F.get_item(swapped, (v.like(x, places), v.like(x, columns)))
    return F.moveaxis(y, (0, 1), (time_axis, batch_axis))


@operator('Shape', takes=HOST)
def shape_of(node, x, /, *, start=0, end=None):
    return np.array(x.shape[start:end], np.int64)


@operator('Size', takes=HOST)
def size_of(node, x, /):
    return np.array(x.size, np.int64)


@operator('OneHot', takes=HOST)
def one_hot(node, indices, depth, values, /, *, axis=-1):
    depth = int(v.scalar(depth))
    v.checked_size((*indices.shape, depth), values.dtype.itemsize)
    axis = v.axis_of(axis, indices.ndim + 1)
    steps = np.arange(depth).reshape((-1,) + (1,) * (indices.ndim - axis))
    indices = indices.astype(np.int64)
    inside = (indices >= -depth) & (indices < depth)
    hot = np.expand_dims(np.where(inside, indices % max(depth, 1), -1), axis) == steps
    return np.where(hot, values[1], values[0]).astype(values.dtype)


@operator('NonZero', takes=ARRAYS)
def non_zero(node, x, /):
    xp = v.xp_of(x)
    return xp.stack(xp.nonzero(xp.atleast_1d(x))).astype(np.int64)


@operator('Unique', takes=HOST)
def unique(node, x, /, *, axis=None, sorted=1):
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
