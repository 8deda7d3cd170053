"""Shared memory through which parts of arrays pass to the ranks that own them."""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any

import numpy

from chainermn._recorder import recorder
from chainermn.means import kernels, shared_memory
from chainermn.means.buckets import cut
from chainermn.means.transport import Pending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.transport import Channel, Steps

    _Array = numpy.ndarray[Any, Any]

#: Bytes of a piece of an array. It is still in a cache when its owner reads it.
PIECE = 1 << 20
#: Pieces of a rank that can be on their way at once.
N_SLOTS = 8


class _Slot:
    """Room for a piece.

    Args:
        rows: Bytes of each rank.

    Attributes:
        is_read: Requests that complete when the owners have read this rank's bytes.

    """

    def __init__(self, rows: Sequence[_Array]) -> None:
        self.rows = rows
        self.is_read: Sequence[Any] = ()


class Staging:
    """Means of which each rank keeps its part, on one host: messages only say what is in memory.

    Arrays pass in pieces through a few slots, which all ranks use in the same order. Each rank
    copies what others own to its row of a slot, and adds its part of all rows.

    Args:
        channel: Where the messages travel.
        rows: Bytes of each rank.

    """

    def __init__(self, channel: Channel, rows: Sequence[_Array]) -> None:
        self._channel = channel
        self._slots = [
            _Slot([row[start : start + PIECE] for row in rows])
            for start in range(0, rows[0].size, PIECE)
        ]
        self._pending: collections.deque[Pending] = collections.deque()
        self._n_started = 0
        self._n_done = 0

    def start(self, flat: _Array, parts: Sequence[slice], result: _Array) -> StagedMean:
        """Starts to compute this rank's part of the mean of an array; collective.

        Args:
            flat: The array, which must not change meanwhile.
            parts: Elements that each rank gets, one part after the other.
            result: Array for this rank's part of the mean.

        """
        step = PIECE // flat.itemsize
        bounds = [*[part.start for part in parts], flat.size]
        pending = []
        for low in range(0, flat.size, step):
            cuts = cut(bounds, low, min(low + step, flat.size))
            places = {i: slice(bounds[i] + a - low, bounds[i] + b - low) for i, a, b in cuts}
            own = [result[a:b] for i, a, b in cuts if i == self._channel.rank]
            pending.append(Pending(self._steps(flat[low : low + step], places, own)))
            self._n_started += 1
        self._pending += pending
        return StagedMean(self, pending, self._n_started)

    def _steps(self, piece: _Array, places: dict[int, slice], result: list[_Array]) -> Steps:
        """Computes this rank's part of the mean of a piece.

        Args:
            piece: The piece.
            places: Elements of it that ranks own; the others own none.
            result: Array for this rank's part, if it has one.

        """
        channel = self._channel
        tag = channel.next_tag()
        owners = [i for i in places if i != channel.rank]
        writers = channel.others if result else []
        slot = self._slots[self._n_started % len(self._slots)]
        rows = [row[: piece.nbytes].view(piece.dtype) for row in slot.rows]
        is_read = channel.signal(tag + 1, [], owners)
        if owners:
            is_free, slot.is_read = slot.is_read, is_read
            yield is_free
        for i in owners:
            rows[channel.rank][places[i]] = piece[places[i]]
        if result:
            rows[channel.rank] = piece
        del piece  # whose memory is free if this rank owns nothing of it
        yield channel.signal(tag, owners, writers)
        if result:
            own = places[channel.rank]
            # In the order of the ranks, as everywhere, which makes the rounding reproducible.
            kernels.mean([row[own] for row in rows], result)
        yield [*channel.signal(tag + 1, writers, []), *is_read]

    def wait(self, end: int) -> None:
        """Waits for the first pieces.

        Args:
            end: Their number.

        """
        # In order: other ranks may need a slot of which this rank has not read an earlier piece.
        while self._n_done < end:
            for pending in itertools.islice(self._pending, len(self._slots) + 1):
                pending.test()
            self._pending[0].wait()
            self._pending.popleft()
            self._n_done += 1
            recorder.ticks += 1  # a large array makes progress


class StagedMean:
    """A mean that is being computed.

    Args:
        staging: What computes it.
        pending: Its pieces.
        end: Number of the last of them among all pieces.

    """

    def __init__(self, staging: Staging, pending: Sequence[Pending], end: int) -> None:
        self._staging = staging
        self._pending = pending
        self._end = end

    def test(self) -> None:
        """Makes progress without waiting."""
        for pending in self._pending:
            pending.test()

    def wait(self) -> None:
        """Waits for the mean."""
        self._staging.wait(self._end)


def make(channel: Channel) -> Staging | None:
    """Makes shared memory; collective.

    Returns:
        ``None`` if the ranks are not on one host, or if there is not enough memory.

    """
    if not channel.is_one_host:
        return None
    specs = [(N_SLOTS * PIECE, numpy.dtype(numpy.uint8))]
    rows = shared_memory.make_rows(channel.mpi_comm, specs)
    return None if rows is None else Staging(channel, rows[0])
