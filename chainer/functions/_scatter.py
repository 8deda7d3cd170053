"""Sums of rows at given places of a matrix: the transpose of indexing."""

import numpy

from chainer.backends import cuda

# Elements below which numpy.add.at takes less time than sorting does.
_SMALL = 4096
# Elements of a row up to which it is best to count each element by itself.
_NARROW = 64


def add_rows(target, index, rows):
    """Does ``target[index[i]] += rows[i]`` for every ``i``; indexes may repeat.

    Args:
        target: Array whose first axis is indexed.
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
    # All first occurrences of an index are added in one turn, then all second ones, and so on.
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
