"""Arithmetic of the normalizations: layouts, sums over channels, blocks."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

#: Elements worked on at a time on the CPU, so that intermediate results stay in its cache.
_block_size = 1 << 16


def compute_dtype(*arrays):
    """Dtype of intermediate results: at least float32."""
    return numpy.result_type(numpy.float32, *[a.dtype for a in arrays])


def blocks(x):
    """Slices of the first axis of ``x``, each small enough for the cache."""
    n = len(x)
    if x.size <= 2 * _block_size or not isinstance(x, numpy.ndarray):
        return (slice(0, n),)
    step = max(1, _block_size * n // x.size)
    return [slice(i, i + step) for i in range(0, n, step)]


def channel_sum(x, dtype):
    """Sums of an array of shape (A, C, B) for each channel, of shape (C,)."""
    return x.sum(axis=(0, 2), dtype=dtype)


def channel_dot(m, x, y):
    """Inner products of two arrays of shape (A, C, B) for each channel, of shape (C,)."""
    if x.shape[2] == 1:
        return m.einsum('ac,ac->c', x[:, :, 0], y[:, :, 0])
    return m.einsum('acb,acb->c', x, y)


def scratch(xp, x, dtype):
    """Buffer for one block of ``x``; cut it to the length of the block."""
    first = blocks(x)[0]
    return xp.empty((first.stop - first.start, *x.shape[1:]), dtype)


@functools.lru_cache(maxsize=256)
def layout(shape, axis):
    """Layout of arrays of ``shape`` with channels along the axes not in ``axis``."""
    return Layout(shape, axis)


class Layout:
    """View of an array as (A, C, B), with the channels as the middle axis.

    Args:
        shape (tuple of int): Shape of the array.
        axis (tuple of int): Axes that are not axes of channels.

    Attributes:
        count (int): Number of elements of a channel.

    """

    def __init__(self, shape: tuple[int, ...], axis: tuple[int, ...]) -> None:
        key = [i for i in range(len(shape)) if i not in axis]
        self.shape = shape
        self._order = self._inverse = None
        start = key[0] if key else 0
        stop = start + len(key)
        if key and key[-1] >= stop:
            # Channels with other axes between them: they go last.
            self._order = (*axis, *key)
            self._inverse = tuple(sorted(range(len(shape)), key=self._order.__getitem__))
            shape = tuple([shape[i] for i in self._order])
            start, stop = len(axis), len(shape)
        self._ordered_shape = shape
        before, channels, after = shape[:start], shape[start:stop], shape[stop:]
        self.view_shape = math.prod(before), math.prod(channels), math.prod(after)
        self.count = self.view_shape[0] * self.view_shape[2]

    def view(self, x: Any) -> Any:
        """View (or copy) of an array or variable as (A, C, B)."""
        if self._order is not None:
            x = x.transpose(self._order)
        return x.reshape(self.view_shape)

    def restore(self, y: Any) -> Any:
        """Inverse of :meth:`view`."""
        y = y.reshape(self._ordered_shape)
        return y if self._inverse is None else y.transpose(self._inverse)
