"""Means of which each rank keeps its part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainermn.means import dtypes
from chainermn.means.buckets import ALONE
from chainermn.means.transport import Pending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.messages import Messages
    from chainermn.means.staging import StagedMean, Staging

    _Array = numpy.ndarray[Any, Any]


class _Group(NamedTuple):
    """Arrays that travel together.

    Attributes:
        numbers: Their numbers.
        dtype: Their dtype.
        sizes: Sizes of this rank's parts of them.
        mean: These parts of the mean, one after the other.
        pending: What computes them.

    """

    numbers: Sequence[int]
    dtype: numpy.dtype[Any]
    sizes: Sequence[int]
    mean: _Array
    pending: Pending | StagedMean


class OwnMeans:
    """This rank's parts of means that are being computed.

    Args:
        messages: Transport that computes them where the ranks share no memory.
        staging: What computes them where they do.
        rank: This rank.
        setting: The configuration ``allreduce_grad_dtype``.
        arrays: Flat NumPy arrays, which must not change meanwhile.
        all_parts: For each of them, the elements that each rank gets.

    Attributes:
        n_bytes: Bytes of the arrays.

    """

    def __init__(
        self,
        messages: Messages,
        staging: Staging | None,
        rank: int,
        setting: str | None,
        arrays: Sequence[_Array],
        all_parts: Sequence[Sequence[slice]],
    ) -> None:
        self.n_bytes: int = sum([array.nbytes for array in arrays])
        self._messages = messages
        self._staging = staging
        self._rank = rank
        self._setting = setting
        self._groups: list[_Group] = []
        self._results: list[Any] = [None] * len(arrays)
        if len(all_parts[0]) == 1:
            self._results = list(arrays)
            return
        groups: dict[Any, list[int]] = {}
        for i, array in enumerate(arrays):
            groups.setdefault(i if array.nbytes >= ALONE else array.dtype.char, []).append(i)
        for numbers in groups.values():
            self._start(numbers, [arrays[i] for i in numbers], [all_parts[i] for i in numbers])

    def _start(
        self,
        numbers: Sequence[int],
        arrays: Sequence[_Array],
        all_parts: Sequence[Sequence[slice]],
    ) -> None:
        dtype, wire = dtypes.dtypes_of(arrays[0].dtype, self._setting)
        flat, parts = _join(arrays, all_parts)
        flat = flat.astype(dtype, copy=False)
        own = flat[parts[self._rank]]
        pending: Pending | StagedMean
        if self._staging is not None and wire is None:
            mean = numpy.empty_like(own)
            pending = self._staging.start(flat, parts, mean)
        else:
            mean = own.copy()
            pending = Pending(self._messages.own_mean(flat, parts, wire, mean))
        sizes = [of_array[self._rank].stop - of_array[self._rank].start for of_array in all_parts]
        self._groups.append(_Group(numbers, arrays[0].dtype, sizes, mean, pending))

    def test(self) -> None:
        """Makes progress without waiting."""
        for group in self._groups:
            group.pending.test()

    def wait(self) -> list[_Array]:
        """Waits for the means and returns this rank's parts."""
        for group in self._groups:
            group.pending.wait()
            start = 0
            for i, size in zip(group.numbers, group.sizes):
                mean = group.mean[start : start + size]
                self._results[i] = mean.astype(group.dtype, copy=False)
                start += size
        return self._results


def _join(
    arrays: Sequence[_Array], all_parts: Sequence[Sequence[slice]]
) -> tuple[_Array, Sequence[slice]]:
    """Joins arrays such that the parts of a rank follow each other."""
    if len(arrays) == 1:
        return arrays[0], all_parts[0]
    pieces = [
        [array[parts[rank]] for array, parts in zip(arrays, all_parts)]
        for rank in range(len(all_parts[0]))
    ]
    bounds = numpy.cumsum([0, *[sum([a.size for a in of_rank]) for of_rank in pieces]]).tolist()
    flat = numpy.concatenate([array for of_rank in pieces for array in of_rank])
    return flat, [slice(a, b) for a, b in zip(bounds, bounds[1:])]
