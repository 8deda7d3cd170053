"""Epochs that go on with another number of ranks.

An iterator over the part of a scattered dataset returns, in each epoch, the samples of this part in
some order. The samples that all ranks have returned are *seen*; the others, in the order in which
the ranks would have returned them, are the *rest*. Other ranks deal out the rest by batches, like
cards, and the seen samples fill their parts. So each sample is returned once in the epoch, as far
as parts of equal length allow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from chainer.datasets import SubDataset, TransformDataset, sub_dataset
from chainer.training.updaters import StandardUpdater
from chainermn.datasets.scatter import interval
from chainermn.means.buckets import bounds_of

Numbers = numpy.ndarray[Any, Any]
_SAMPLES, _TOTAL, _BATCH_SIZE = '_samples', '_total', '_batch_size'


class Progress(NamedTuple):
    """State of the iterator of one rank.

    Args:
        samples: Numbers, in the dataset that was scattered, of the samples of the part of the rank,
            in the order in which the iterator returns them.
        position: How many samples the iterator has returned in this epoch.
        epoch: Number of the epoch.
        batch_size: Number of samples that it returns at once.
        total: Number of samples of the whole dataset.

    """

    samples: Numbers
    position: int
    epoch: int
    batch_size: int
    total: int


def iterators_of(updater: Any) -> dict[str, Any]:
    """Returns the iterators of an updater by the prefixes of their names in snapshots."""
    iterators = updater._iterators if isinstance(updater, StandardUpdater) else {}
    return {f'updater/iterator:{name}/': iterator for name, iterator in iterators.items()}


def is_common(iterator: Any) -> bool:
    """Tells whether an iterator is at the same place on all ranks, whatever their number."""
    return getattr(iterator, '_is_synchronized', False)


def part_of(iterator: Any, comm: Any) -> SubDataset | None:
    """Returns the part that :func:`~chainermn.scatter_dataset` gave to this rank, if any."""
    dataset = getattr(iterator, 'dataset', None)
    while isinstance(dataset, TransformDataset):
        dataset = dataset._dataset
    if not isinstance(dataset, SubDataset) or is_common(iterator):
        return None
    total, *place = sub_dataset.place_of(dataset)
    intervals = [interval(total, comm, equal) for equal in (True, False)]
    return dataset if tuple(place) in intervals else None


def describe(updater: Any, comm: Any) -> dict[str, Any]:
    """Returns values to save beside those of the iterators."""
    values: dict[str, Any] = {}
    for prefix, iterator in iterators_of(updater).items():
        part = part_of(iterator, comm)
        if part is not None:
            values[prefix + _SAMPLES] = sub_dataset.numbers_of(part)
            values[prefix + _TOTAL] = sub_dataset.place_of(part)[0]
            values[prefix + _BATCH_SIZE] = iterator.batch_size
    return values


def prefixes_in(values: dict[str, Any]) -> list[str]:
    """Returns the prefixes of the iterators that :func:`describe` has described."""
    return [name.removesuffix(_SAMPLES) for name in values if name.endswith('/' + _SAMPLES)]


def read_progress(prefix: str, values: dict[str, Any]) -> tuple[Numbers, Progress]:
    """Returns the samples of a part, and the progress of its iterator."""
    numbers = returned = values[prefix + _SAMPLES]
    for key in 'order', '_order':
        if prefix + key in values:
            returned = numbers[values[prefix + key]]
    keys = 'current_position', 'epoch', _BATCH_SIZE, _TOTAL
    return numbers, Progress(returned, *[int(values[prefix + key]) for key in keys])


def divide(old: list[Progress], lengths: list[int], batch_size: int) -> list[tuple[Numbers, int]]:
    """Divides the samples of an epoch that has begun.

    Args:
        old: What the ranks that began the epoch have done.
        lengths: Lengths of the new parts.
        batch_size: Number of samples of the new batches.

    Returns:
        For each new rank, the samples of its part, and how many of them count as returned.

    """
    seen, rest = _split(old)
    counts = _counts(rest.size, lengths)
    dealt = _deal(rest, counts, batch_size)
    # Parts of equal length have the same position, so that all ranks end the epoch together.
    is_equal = len(set(lengths)) == 1
    tails = [max(counts)] * len(counts) if is_equal else counts
    free = [length - count for length, count in zip(lengths, counts)]
    # Some samples are in two parts if the parts are equal and do not divide the dataset.
    others = numpy.resize(numpy.concatenate([seen, rest]), sum(free))
    fillers = _deal(others, free, batch_size)
    result = []
    for length, tail, own, filler in zip(lengths, tails, dealt, fillers):
        position = length - tail
        result.append((numpy.concatenate([filler[:position], own, filler[position:]]), position))
    return result


def _split(old: list[Progress]) -> tuple[Numbers, Numbers]:
    """Returns the samples that were returned, and the others in the order of the batches."""
    epoch = min([p.epoch for p in old])
    # A rank that is in the next epoch already has returned all of its part.
    positions = [p.position if p.epoch == epoch else p.samples.size for p in old]
    order = _interleave([p.samples.size for p in old], positions, [p.batch_size for p in old])
    is_seen = numpy.zeros(old[0].total, bool)
    for p, position in zip(old, positions):
        is_seen[p.samples[:position]] = True
    numbers = numpy.concatenate([p.samples for p in old])[order]
    # Samples that were in two parts count once.
    _, first = numpy.unique(numbers, return_index=True)
    numbers = numbers[numpy.sort(first)]
    return numbers[is_seen[numbers]], numbers[~is_seen[numbers]]


def _counts(total: int, lengths: list[int]) -> list[int]:
    """Divides a number of samples evenly between parts that take no more than their lengths."""
    bounds = bounds_of(total, len(lengths))
    counts = [min(b - a, length) for a, b, length in zip(bounds, bounds[1:], lengths)]
    for i, length in enumerate(lengths):
        counts[i] += min(total - sum(counts), length - counts[i])
    return counts


def _deal(numbers: Numbers, counts: list[int], batch_size: int) -> list[Numbers]:
    """Gives ranks their samples so that they return them in the given order."""
    zeros, sizes = [0] * len(counts), [batch_size] * len(counts)
    dealt = numpy.empty_like(numbers)
    dealt[_interleave(counts, zeros, sizes)] = numbers
    return numpy.split(dealt, numpy.cumsum(counts)[:-1])


def _interleave(lengths: list[int], positions: list[int], batch_sizes: list[int]) -> Numbers:
    """Returns the order in which ranks return the samples of lists that are joined.

    In each step, each rank returns a batch. One of the steps begins at the positions.
    """
    steps = [
        (numpy.arange(length) - position) // size
        for length, position, size in zip(lengths, positions, batch_sizes)
    ]
    ranks = numpy.repeat(numpy.arange(len(lengths)), lengths)
    return numpy.lexsort([ranks, numpy.concatenate(steps)])
