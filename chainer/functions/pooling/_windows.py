"""Windows of an image: sums and maxima over them, and the transposes of these."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.utils import _patches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray

# From this number of elements in a window on, picking by position beats going through them.
_MANY = 32


class Windows:
    """Windows of given geometry over the spatial axes of ``(n, c, *dims)``.

    Elements of a window outside the image do not exist.

    Args:
        dims (tuple of int): Spatial shape of the image.
        ksize, stride, pad (tuple of int): One per dimension.
        outs (tuple of int): Number of windows along each dimension.

    """

    def __init__(
        self,
        dims: tuple[int, ...],
        ksize: tuple[int, ...],
        stride: tuple[int, ...],
        pad: tuple[int, ...],
        outs: tuple[int, ...],
    ) -> None:
        self.dims = dims
        self.ksize = ksize
        self.stride = stride
        self.pad = pad
        self.outs = outs
        self._axes = [
            _patches.get_taps(k, s, p, dim, 1, out)
            for k, s, p, dim, out in zip(ksize, stride, pad, dims, outs)
        ]
        self._are_disjoint = all([s >= k for s, k in zip(stride, ksize)])

    @functools.cached_property
    def _taps(self):
        """Number of a window element, the windows with this element, and its positions there."""
        taps = []
        for tap in itertools.product(*self._axes):
            index, outs, dims = zip(*tap) if tap else ((), (), ())
            number = 0
            for i, k in zip(index, self.ksize):
                number = number * k + i
            taps.append((number, (..., *outs), (..., *dims)))
        return taps

    @functools.cached_property
    def counts(self) -> NdArray:
        """Numbers of elements of the windows (at least one), of shape ``outs``."""
        counts = numpy.ones((), int)
        for taps, out in zip(self._axes, self.outs):
            along = numpy.zeros(out, int)
            for _, outs, _ in taps:
                along[outs] += 1
            counts = numpy.multiply.outer(counts, numpy.maximum(along, 1))
        return counts

    def _reduce(self, x, ufunc, initial):
        """Reduces windows axis by axis, starting from the last."""
        xp = cuda.get_array_module(x)
        for axis in range(len(self.outs) - 1, -1, -1):
            taps, out = self._axes[axis], self.outs[axis]
            before = (slice(None),) * (axis + 2)
            if out == 1 and taps:
                x = getattr(x[(*before, _span(taps))], ufunc)(axis=axis + 2, keepdims=True)
                continue
            operation = xp.add if ufunc == 'sum' else xp.maximum
            y = None
            for _, outs, dims in taps:
                part = x[(*before, dims)]
                if y is None:
                    if part.shape[axis + 2] == out:
                        y = part.copy()
                        continue
                    y = xp.full((*x.shape[: axis + 2], out, *x.shape[axis + 3 :]), initial, x.dtype)
                target = y[(*before, outs)]
                operation(target, part, out=target)
            if y is None:
                y = xp.full((*x.shape[: axis + 2], out, *x.shape[axis + 3 :]), initial, x.dtype)
            x = y
        return x

    def sum(self, x: NdArray) -> NdArray:
        """Sums over the windows."""
        return self._reduce(x, 'sum', 0)

    def spread(self, y: NdArray) -> NdArray:
        """Adds each value to all elements of its window: the transpose of :meth:`sum`."""
        xp = cuda.get_array_module(y)
        for axis, (taps, out, dim) in enumerate(zip(self._axes, self.outs, self.dims)):
            before = (slice(None),) * (axis + 2)
            x = xp.zeros((*y.shape[: axis + 2], dim, *y.shape[axis + 3 :]), y.dtype)
            if out == 1 and taps:
                x[(*before, _span(taps))] = y
            elif self.stride[axis] >= self.ksize[axis]:
                for _, outs, dims in taps:
                    x[(*before, dims)] = y[(*before, outs)]
            else:
                for _, outs, dims in taps:
                    target = x[(*before, dims)]
                    target += y[(*before, outs)]
            y = x
        return y

    def max(self, x: NdArray) -> NdArray:
        """Maxima of the windows; -inf for empty windows."""
        return self._reduce(x, 'max', -numpy.inf)

    def argmax(self, x: NdArray) -> tuple[NdArray, NdArray]:
        """Maxima of the windows and the numbers of their first elements with these values."""
        xp = cuda.get_array_module(x)
        shape = (*x.shape[:2], *self.outs)
        if self.outs == (1,) * len(self.outs) and all(self._axes):
            return self._argmax_of_one(x)
        dtype = numpy.min_scalar_type(math.prod(self.ksize) - 1)
        y = xp.full(shape, -numpy.inf, x.dtype)
        indexes = xp.zeros(shape, dtype)
        for number, outs, dims in self._taps:
            part, target = x[dims], y[outs]
            if number:
                # Numbers ascend, so that the latest to win is the largest: NumPy computes that
                # many times faster than it copies under a mask.
                winners = (part > target) * dtype.type(number)
                xp.maximum(indexes[outs], winners, out=indexes[outs])
            xp.maximum(target, part, out=target)
        return y, indexes

    def _argmax_of_one(self, x):
        """The same for a single window."""
        xp = cuda.get_array_module(x)
        firsts = [taps[0][0] for taps in self._axes]
        whole = x[(..., *map(_span, self._axes))]
        sizes = whole.shape[2:]
        whole = whole.reshape(*x.shape[:2], math.prod(sizes))
        positions = whole.argmax(axis=2)
        indexes: Any = 0
        for first, position, k in zip(firsts, xp.unravel_index(positions, sizes), self.ksize):
            indexes = indexes * k + (first + position)
        ones = (1,) * len(self.outs)
        return whole.max(axis=2).reshape(*x.shape[:2], *ones), indexes.reshape(*x.shape[:2], *ones)

    def gather(self, x: NdArray, indexes: NdArray) -> NdArray:
        """Elements of the windows by number; zeros for missing ones."""
        xp = cuda.get_array_module(x)
        if math.prod(self.ksize) > _MANY:
            positions, exist = self.positions(indexes)
            x = x.reshape(*x.shape[:2], math.prod(self.dims))
            return xp.where(
                exist, xp.take_along_axis(x, positions, axis=2), x.dtype.type(0)
            ).reshape(indexes.shape)
        y = xp.zeros(indexes.shape, x.dtype)
        for number, outs, dims in self._taps:
            xp.copyto(y[outs], x[dims], where=indexes[outs] == number)
        return y

    def scatter(self, y: NdArray, indexes: NdArray) -> NdArray:
        """Adds values to elements of their windows: the transpose of :meth:`gather`."""
        xp = cuda.get_array_module(y)
        x = xp.zeros((*y.shape[:2], *self.dims), y.dtype)
        if math.prod(self.ksize) > _MANY:
            positions, exist = self.positions(indexes)
            rows = xp.arange(math.prod(y.shape[:2])).reshape(*y.shape[:2], 1)
            positions += rows * math.prod(self.dims)
            xp.add.at(x.reshape(-1), positions[exist], y.reshape(positions.shape)[exist])
            return x
        for number, outs, dims in self._taps:
            target = x[dims]
            chosen = indexes[outs] == number
            if self._are_disjoint:
                xp.multiply(y[outs], chosen, out=target)
            else:
                target += y[outs] * chosen
        return x

    def positions(self, indexes):
        """Positions of elements in the flattened image, and whether they are inside."""
        xp = cuda.get_array_module(indexes)
        shape = (*indexes.shape[:2], math.prod(self.outs))
        positions, exist = xp.zeros(indexes.shape, int), xp.ones(indexes.shape, bool)
        places = xp.unravel_index(indexes.astype(int), self.ksize)
        for axis, (place, s, p, dim, out) in enumerate(
            zip(places, self.stride, self.pad, self.dims, self.outs)
        ):
            starts = xp.arange(-p, out * s - p, s).reshape(out, *[1] * (len(self.outs) - axis - 1))
            place = place + starts
            exist &= (0 <= place) & (place < dim)
            positions = positions * dim + place.clip(0, dim - 1)
        return positions.reshape(shape), exist.reshape(shape)


def _span(taps):
    """Extent of the only window of an axis."""
    return slice(taps[0][2].start, taps[-1][2].start + 1)


get_windows = functools.lru_cache(maxsize=512)(Windows)


class LinearMap(Operation):
    """Linear function of one array with its transpose; each is the gradient of the other.

    Args:
        function, transpose (callable): Functions of an array.

    """

    def __init__(self, function: Callable[..., Any], transpose: Callable[..., Any]) -> None:
        self._function = function
        self._transpose = transpose

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (self._function(inputs[0]),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(LinearMap(self._transpose, self._function), gys)
