"""Reading and writing at indices."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import ARRAYS, operator


def nonnegative(indices, length):
    """Indices that count from the front; those of the host are checked."""
    if isinstance(indices, np.ndarray):
        if indices.size and not -length <= indices.min() <= indices.max() < length:
            raise IndexError(f'an index is not among the {length} elements of the axis')
        return np.where(indices < 0, indices + length, indices)
    return v.calling_arrays(lambda i: v.xp_of(i).where(i < 0, i + length, i), indices)


@operator('Gather', any_dtype=True)
def gather(x, indices, *, axis):
    axis = v.axis_of(axis, x.ndim)
    indices = nonnegative(v.array_of(indices), x.shape[axis])
    if axis == 0 and x.ndim == 2 and indices.ndim and v.is_float(x):
        return F.embed_id(indices, x)
    if isinstance(indices, np.ndarray) and indices.ndim == 0:
        indices = int(indices)  # a view
    return F.get_item(x, (slice(None),) * axis + (indices,))


def _grid(indices, axis, shape):
    """Indices of all axes of a shape for indices along one."""
    places = list(np.ogrid[tuple(slice(n) for n in shape)])
    places[axis] = indices
    return [np.array(i) for i in np.broadcast_arrays(*places)]


def take_along(x, indices, axis):
    """Elements at indices of the host along an axis, which count from the front."""
    return F.get_item(x, tuple(v.like(x, i) for i in _grid(indices, axis, indices.shape)))


@operator('GatherElements', host=(1,), any_dtype=True)
def gather_elements(x, indices, *, axis):
    axis = v.axis_of(axis, x.ndim)
    return take_along(x, nonnegative(indices, x.shape[axis]), axis)


def _points(indices, shape):
    """Indices of the first axes from the last axis of an array."""
    count = indices.shape[-1]
    if count > len(shape):
        raise ValueError(f'the indices are for {count} axes, and the shape is {shape}')
    return [nonnegative(indices[..., i], shape[i]) for i in range(count)]


@operator('GatherND', host=(1,), any_dtype=True)
def gather_nd(x, indices, *, batch_dims):
    ndim = indices.ndim - 1
    batch = [v.along_axis(np.arange(n), i, ndim) for i, n in enumerate(x.shape[:batch_dims])]
    places = *batch, *_points(indices, x.shape[batch_dims:])
    return F.get_item(x, tuple(v.like(x, i) for i in places))


def scatter(x, places, updates, reduction):
    """``x`` with ``updates`` at places, a list of an index array for each of the first axes."""
    places = tuple(v.like(x, i) for i in places)
    if v.is_float(x) and reduction == 'add':
        return F.scatter_add(x, places, updates)
    if v.is_float(x) and reduction == 'none':
        kept = v.calling_arrays(_marked, x, *places)
        return F.scatter_add(F.where(kept, x, 0), places, updates)
    return v.calling_arrays(_write, x, updates, *places, reduction=reduction)


def _marked(a, *places):
    kept = v.xp_of(a).ones(a.shape, bool)
    kept[places] = False
    return kept


def _write(a, updates, *places, reduction):
    y = a.copy()
    if reduction == 'none':
        y[places] = updates
    else:
        ufunc = {'add': 'add', 'mul': 'multiply', 'max': 'maximum', 'min': 'minimum'}[reduction]
        getattr(v.xp_of(a), ufunc).at(y, places, updates)
    return y


@operator('Scatter', 'ScatterElements', host=(1,), any_dtype=True)
def scatter_elements(x, indices, updates, *, axis, reduction='none'):
    axis = v.axis_of(axis, x.ndim)
    places = _grid(nonnegative(indices, x.shape[axis]), axis, indices.shape)
    return scatter(x, places, updates, reduction)


@operator('ScatterND', host=(1,), any_dtype=True)
def scatter_nd(x, indices, updates, *, reduction):
    return scatter(x, _points(indices, x.shape), updates, reduction)


@operator('TensorScatter', host=(2,), any_dtype=True)
def tensor_scatter(past, update, begin, *, axis, mode):
    axis = v.axis_of(axis, past.ndim)
    length, count = past.shape[axis], update.shape[axis]
    begin = np.zeros(past.shape[0], np.int64) if begin is None else begin
    if begin.shape != past.shape[:1] or (begin < 0).any():
        raise ValueError(f'write_indices must be {past.shape[0]} numbers from 0 on, not {begin}')
    steps = begin[:, None] + np.arange(count)
    if mode == 'circular' and length:
        steps %= length
    if (steps >= length).any():
        raise ValueError(f'write_indices {begin} and {count} steps go beyond the length {length}')
    steps = steps.reshape((-1,) + (1,) * (axis - 1) + (count,) + (1,) * (past.ndim - 1 - axis))
    return scatter(past, _grid(steps, axis, update.shape), update, 'none')


@operator('Compress', takes=ARRAYS)
def compress(x, condition, *, axis):
    return v.xp_of(x).compress(condition, x, axis=axis)
