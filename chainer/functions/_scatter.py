"""Sums of rows at given positions of a matrix: the transpose of indexing."""

import numpy

from chainer.backends import cuda

# Number of elements below which numpy.add.at is faster than sorting.
_SMALL = 4096
# Row length up to which counting each element separately is fastest.
_NARROW = 64


def add_rows(target, index, rows):
    """Does ``target[index[i]] += rows[i]`` for every ``i``; indexes may repeat.

    Args:
        target: Array to index along its first axis.
        index: Array of ints of one dimension; negative ones count from the end.
        rows: Array of shape ``(len(index), *target.shape[1:])``.

    """
    if not isinstance(target, numpy.ndarray) or rows.size <= _SMALL or target.ndim == 1:
        cuda.get_array_module(target).add.at(target, index, rows)
        return
    index = numpy.where(index < 0, index + len(target), index)
    width = target[0].size
    if width <= _NARROW and rows.size >= target.size // 4:
        elements = index[:, None] * width + numpy.arange(width)
        target += numpy.bincount(elements.ravel(), rows.ravel(), target.size).reshape(target.shape)
        return
    # Add all first occurrences of each index at once, then all second ones, and so on.
    # numpy.add.at and numpy.add.reduceat take many times longer.
    order = numpy.argsort(index, kind='stable')
    index = index[order]
    starts = numpy.flatnonzero(numpy.diff(index, prepend=index[0] - 1))
    counts = numpy.diff(starts, append=len(index))
    turn = numpy.arange(len(index)) - numpy.repeat(starts, counts)
    by_turn = numpy.argsort(turn, kind='stable')
    stop = 0
    for n in numpy.bincount(turn).tolist():
        chosen = by_turn[stop : stop + n]
        target[index[chosen]] += rows[order[chosen]]
        stop += n
