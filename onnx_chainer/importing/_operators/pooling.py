"""Pooling."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import operator, operators
from .convolutions import Windows, pad_spatial


class PoolWindows(Windows):
    """The windows of a pooling, whose elements are strided slices of the padded input.

    Slices do what the functions of Chainer cannot: padding that differs before and behind,
    dilation, and windows that begin inside and end outside.
    """

    def __init__(self, x, kernel_shape, ceil_mode, **attributes):
        super().__init__(x.shape[2:], kernel_shape, **attributes)
        self.counts = []
        for n, span, s, (before, behind) in self._axes(self.spans, self.strides):
            room = n + before + behind - span
            out = (-(-room // s) if ceil_mode else room // s) + 1
            if ceil_mode and (out - 1) * s >= n + before:
                out -= 1  # a window has to begin before the padding behind
            if out < 1:
                raise ValueError(
                    f'the windows {self.kernel} are larger than the input {self.shape}'
                )
            self.counts.append(out)
        # What the last windows need, which may be less or more than the padding that is given.
        self.needed = [
            (before, (out - 1) * s + span - n - before)
            for n, span, s, out, (before, _) in self._axes(self.spans, self.strides, self.counts)
        ]

    def _axes(self, *lists):
        """For each axis the length, items of some lists, and the padding."""
        return zip(self.shape, *lists, self.pads)

    @property
    def symmetric_pads(self):
        """The padding as Chainer's functions take it, or ``None``."""
        axes = zip(self.needed, self.kernel, self.strides, self.dilations)
        for (before, behind), k, s, d in axes:
            if d != 1 or behind > before or before >= k or before - behind >= s:
                return None
        return tuple(before for before, _ in self.needed)

    def parts(self, x, value=None):
        """Yields, for each offset in the window, the elements there of all windows.

        ``x`` is padded by a value; without one, it has its padding.
        """
        if value is not None:
            x = pad_spatial(x, self.needed, value)
        for offset in itertools.product(*map(range, self.kernel)):
            index = [slice(None), slice(None)]
            for o, d, s, out in zip(offset, self.dilations, self.strides, self.counts):
                index.append(slice(o * d, o * d + (out - 1) * s + 1, s))
            yield F.get_item(x, tuple(index))

    def combine(self, function, x, value=None):
        """Combines the elements of each window by a function of two arrays."""
        return functools.reduce(function, self.parts(x, value))

    def sizes(self, x, include_pad):
        """How many elements each window has; padding that rounding up adds counts in no case."""
        ones = np.ones((1, 1, *x.shape[2:]), x.dtype)
        given = [
            (before, min(behind, needed))
            for (before, behind), (_, needed) in zip(self.pads, self.needed)
        ]
        rest = [(0, needed - end) for (_, end), (_, needed) in zip(given, self.needed)]
        ones = pad_spatial(pad_spatial(ones, given, float(bool(include_pad))), rest)
        return v.like(x, np.maximum(self.combine(F.add, ones).array, 1))


def _pooling(function):
    """The operator of ``function(node, x, windows, **others)``."""

    def call(node, x, *, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides, **attributes):
        windows = PoolWindows(
            x, kernel_shape, ceil_mode,
            strides=strides, dilations=dilations, pads=pads, auto_pad=auto_pad,
        )  # fmt: skip
        return function(node, x, windows, **attributes)

    return call


def _max_pool(node, x, windows, storage_order):
    pad = windows.symmetric_pads
    if v.is_float(x) and pad is not None and not node.wants(1):
        return F.max_pooling_nd(x, windows.kernel, windows.strides, pad, cover_all=False)
    floats = x if v.is_float(x) else v.on_host(x).astype('d')
    y = windows.combine(F.maximum, floats, -math.inf)
    if not v.is_float(x):
        y = v.like(x, y.array.astype(x.dtype))
    if not node.wants(1):
        return y
    return y, v.like(x, _argmax(v.on_host(floats), windows, storage_order))


def _argmax(x, windows, storage_order):
    """The places of the largest elements in the input without padding, counted over all axes."""
    shape = x.shape[2:]
    size = math.prod(shape)
    image = np.arange(size, dtype=np.float64).reshape(shape, order='F' if storage_order else 'C')
    parts = [part.array for part in windows.parts(x, -math.inf)]
    places = [part.array for part in windows.parts(image[None, None], 0.0)]
    best = np.argmax(parts, axis=0)
    inside = np.take_along_axis(np.stack(places), best[None], axis=0)[0]
    first = size * np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(shape))
    return inside.astype(np.int64) + first


def _average_pool(node, x, windows, count_include_pad):
    pad = windows.symmetric_pads
    if pad is not None and all(before == behind for before, behind in windows.needed):
        value = 0 if count_include_pad else None
        return F.average_pooling_nd(x, windows.kernel, windows.strides, pad, pad_value=value)
    return windows.combine(F.add, x, 0.0) / windows.sizes(x, count_include_pad)


def _lp_pool(node, x, windows, p):
    return windows.combine(F.add, F.absolute(x) ** p, 0.0) ** (1 / p)


def _whole(function):
    """A reduction of all spatial axes."""
    return lambda x: function(x, axis=tuple(range(2, x.ndim)), keepdims=True)


average_pool = _pooling(_average_pool)

operators(
    {
        'MaxPool': _pooling(_max_pool),
        'AveragePool': average_pool,
        'LpPool': _pooling(_lp_pool),
        'GlobalAveragePool': _whole(F.mean),
        'GlobalMaxPool': _whole(F.max),
        'GlobalLpPool': lambda x, *, p: _whole(F.sum)(F.absolute(x) ** p) ** (1 / p),
    }
)


@operator('MaxUnpool', host=(1,), lists=(2,))
def max_unpool(x, indices, shape, *, kernel_shape, pads, strides):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads=pads)
    inner = tuple(
        (n - 1) * s + k - sum(pair)
        for n, s, k, pair in zip(x.shape[2:], windows.strides, windows.kernel, windows.pads)
    )
    shape = (*x.shape[:2], *inner) if shape is None else tuple(shape)
    size = v.checked_size(shape, x.dtype.itemsize)
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        raise IndexError(f'an index is not among the {size} elements of the output')
    if math.prod(inner) != math.prod(shape[2:]):
        # The indices count in the shape that pooling would have had.
        place = np.unravel_index(indices, (*x.shape[:2], *inner))
        indices = np.ravel_multi_index(place, shape)
    zeros = v.like(x, np.zeros(size, x.dtype))
    flat = F.scatter_add(zeros, (v.like(x, indices.ravel()),), F.reshape(x, (-1,)))
    return F.reshape(flat, shape)
