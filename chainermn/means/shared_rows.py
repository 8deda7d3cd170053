"""Means of gradients in memory that the ranks of one host share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainermn import _arrays, _messages
from chainermn.means import dtypes, kernels, shared_memory
from chainermn.means.buckets import parts_of
from chainermn.means.messages import Messages
from chainermn.means.transport import Transport
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.buckets import Bucket
    from chainermn.means.transport import Channel, Steps

    _Array = numpy.ndarray[Any, Any]


class SharedRows(Transport):
    """Transport of gradients on a host: messages only say what is in shared memory.

    A bucket has a row of memory for each rank. Each rank reads its part of the arrays of all ranks
    and writes the means to the same places, which are still in its cache. Arrays in rows or slots
    are not copied. Of other arrays, the parts that belong to other ranks are copied to the row, and
    their means back.

    With several hosts, each rank exchanges the means of its part with the ranks in its place on the
    other hosts, before it writes them to the memory of its host.

    Args:
        channel (Channel): Where the messages travel.

    """

    def __init__(self, channel: Channel) -> None:
        self._everywhere = channel
        self._channel = channel.within or channel
        self._between = channel.between
        self._over_hosts = None if channel.between is None else Messages(channel.between)
        self._is_possible = self._channel.is_one_host

    def forget(self) -> None:
        if self._over_hosts is not None:
            self._over_hosts.forget()

    def _takes(self, bucket: Bucket) -> bool:
        # Residuals belong to what a rank sends itself, which is the whole gradient.
        return bucket.can_share and (self._between is None or bucket.wire != dtypes.INT8)

    def prepare(self, buckets: Sequence[Bucket]) -> None:
        """Gives rows to buckets that can have them, if ranks share memory; collective."""
        if not self._is_possible:
            return
        buckets = [bucket for bucket in buckets if self._takes(bucket)]
        lacks = not all([bucket.rows for bucket in buckets])
        # A rank with new buckets has no rows for them, and all ranks make rows together.
        if _messages.any_rank(self._everywhere.mpi_comm, lacks):
            rows = self._make_rows([(bucket.size, bucket.dtype) for bucket in buckets])
            for bucket, of_bucket in zip(buckets, rows):
                bucket.share(of_bucket, self._channel.rank)

    def make_slots(self, buckets: Sequence[Bucket]) -> Slots | None:
        """Makes slots for the large gradients of buckets, if ranks share memory; collective.

        Returns:
            The slots, or ``None`` if there are none.

        """
        large = [bucket for bucket in buckets if bucket.slot_bytes and self._takes(bucket)]
        if not (self._is_possible and large and chainerx.is_available()):
            return None
        byte = numpy.dtype(numpy.uint8)
        rows = self._make_rows([(bucket.slot_bytes, byte) for bucket in large])
        if not rows:
            return None
        slots = Slots(self._channel.rank, rows)
        for bucket in buckets:
            bucket.slots = slots
        return slots

    def _make_rows(self, specs: Any) -> list[list[_Array]]:
        rows = shared_memory.make_rows(self._channel.mpi_comm, specs)
        self._is_possible = rows is not None
        if self._between is not None:  # all hosts go the same way
            self._is_possible = not _messages.any_rank(self._everywhere.mpi_comm, rows is None)
        return rows if rows and self._is_possible else []

    def steps(self, buckets: Sequence[Bucket]) -> Steps:
        channel = self._channel
        for bucket in buckets:
            bucket.pack()
        tag = channel.next_tag()
        # All tags at once: the ranks may get to the later steps of several means in any order.
        over = [self._between.next_tag() for _ in buckets] if self._between else []
        places, copied = self._place(buckets)
        theirs = {i: numpy.empty_like(places) for i in channel.others}
        # Other ranks access the memory of this one only between this message and their next one.
        yield channel.exchange(tag, dict.fromkeys(channel.others, places), theirs)
        for k, bucket in enumerate(buckets):
            parts = self._find_parts(bucket, {i: of_rank[k] for i, of_rank in theirs.items()})
            yield from self._mean(parts, over[k] if over else None)
        yield channel.signal(tag + 1, channel.others, channel.others)
        for part, shared in copied:
            part[...] = shared
        yield None
        for bucket in buckets:
            bucket.unpack()

    def _find_parts(self, bucket: Bucket, slots: dict[int, int]) -> list[_Array]:
        """Returns this rank's part in the memory of each rank of the host.

        Args:
            bucket: Bucket.
            slots: Numbers of the slots in which the other ranks have it, negative for their rows.

        """
        rank = self._channel.rank
        arrays = [*bucket.rows]
        for i, slot in slots.items():
            if slot >= 0:
                arrays[i] = bucket.slots.get(slot, i, bucket.dtype)
        arrays[rank] = bucket.flat
        part = parts_of(bucket.size, self._channel.size)[rank]
        return [array[part] for array in arrays]

    def _mean(self, parts: list[_Array], tag: int | None) -> Steps:
        """Replaces this rank's part by its mean, in the memory of each rank of the host."""
        # Each rank writes its own part only, so no rank waits for a lock of another one.
        if tag is None or self._over_hosts is None or self._between is None:
            kernels.mean(parts, parts)
            return
        own = parts[self._channel.rank]
        kernels.mean(parts, [own])
        yield from self._over_hosts.mean_of(tag, own, parts_of(own.size, self._between.size), None)
        for i in self._channel.others:
            parts[i][...] = own

    def _place(self, buckets: Sequence[Bucket]) -> tuple[_Array, list[tuple[Any, Any]]]:
        """Puts the arrays where the other ranks read them.

        Returns:
            tuple: The place of each array, the number of a slot or -1 for the row, and the parts
            that have been copied, as pairs of a part of an array and one of a row.

        """
        channel = self._channel
        places = numpy.full(len(buckets), -1, numpy.int32)
        copied = []
        for k, bucket in enumerate(buckets):
            row = bucket.rows[channel.rank]
            if bucket.flat is row:
                continue
            if bucket.slots is not None:
                places[k] = bucket.slots.find(bucket.flat)
            if places[k] < 0:
                parts = parts_of(bucket.size, channel.size)
                copied += [(bucket.flat[parts[i]], row[parts[i]]) for i in channel.others]
        for part, shared in copied:
            shared[...] = part
        return places, copied


class Slots:
    """Memory that the ranks share, in which backward makes gradients.

    An array that has exactly the size of a slot is allocated there if it is free, and occupies it
    until it is deleted. A process that is forked meanwhile shares the array instead of copying it.

    Args:
        rank: This rank.
        rows: For each slot, its bytes of each rank.

    """

    def __init__(self, rank: int, rows: Sequence[Sequence[_Array]]) -> None:
        self._rows = rows
        own = [of_slot[rank] for of_slot in rows]
        self._numbers = {_arrays.address(memory): i for i, memory in enumerate(own)}
        #: Context in which ChainerX's core allocates gradients in slots, also those of NumPy.
        self.places: Any = _internal.Places([backend.to_chx(memory) for memory in own])

    def find(self, array: _Array) -> int:
        """Returns the number of the slot that an array is in; -1 for none."""
        return self._numbers.get(array.__array_interface__['data'][0], -1)

    def get(self, number: int, rank: int, dtype: numpy.dtype[Any]) -> _Array:
        """Returns the memory of a rank."""
        return self._rows[number][rank].view(dtype)
