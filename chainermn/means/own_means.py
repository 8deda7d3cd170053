"""Means of which each rank keeps its part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainermn.means import dtypes
from chainermn.means.buckets import ALONE
from chainermn.means.transport import Pending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.messages import Messages
    from chainermn.means.transport import Steps

    _Array = numpy.ndarray[Any, Any]


class OwnMeans:
    """This rank's parts of means that are being computed.

    Args:
        messages: Transport that computes them.
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
        rank: int,
        setting: str | None,
        arrays: Sequence[_Array],
        all_parts: Sequence[Sequence[slice]],
    ) -> None:
        self.n_bytes: int = sum([array.nbytes for array in arrays])
        self._rank = rank
        self._results = list(arrays)
        if len(all_parts[0]) == 1:
            self._pending = []
            return
        groups: dict[Any, list[int]] = {}
        for i, array in enumerate(arrays):
            groups.setdefault(i if array.nbytes >= ALONE else array.dtype.char, []).append(i)
        self._pending = [
            Pending(self._steps(messages, setting, group, [all_parts[i] for i in group]))
            for group in groups.values()
        ]

    def _steps(
        self,
        messages: Messages,
        setting: str | None,
        numbers: Sequence[int],
        all_parts: Sequence[Sequence[slice]],
    ) -> Steps:
        """Replaces some of the arrays by this rank's parts of their means."""
        arrays = [self._results[i] for i in numbers]
        dtype, wire = dtypes.dtypes_of(arrays[0].dtype, setting)
        flat, parts = _join(arrays, all_parts)
        mean = flat[parts[self._rank]].astype(dtype)
        flat = flat.astype(dtype, copy=False)
        yield from messages.own_mean(flat, parts, wire, mean)
        start = 0
        for i, array, own in zip(numbers, arrays, [p[self._rank] for p in all_parts]):
            end = start + own.stop - own.start
            self._results[i] = mean[start:end].astype(array.dtype, copy=False)
            start = end

    def test(self) -> None:
        """Makes progress without waiting."""
        for mean in self._pending:
            mean.test()

    def wait(self) -> list[_Array]:
        """Waits for the means and returns this rank's parts."""
        for mean in self._pending:
            mean.wait()
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
