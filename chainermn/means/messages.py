"""Means of gradients on the host, by messages of MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainermn.means import dtypes, int8, kernels
from chainermn.means.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from chainermn.means.buckets import Bucket
    from chainermn.means.transport import Channel, Steps

    _Array = numpy.ndarray[Any, Any]


class Pool:
    """Flat arrays for reuse: the system clears the pages of new arrays, which takes time."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, str], list[_Array]] = {}

    def take(self, size: int, dtype: numpy.dtype[Any]) -> _Array:
        free = self._free.get((size, dtype.char))
        return free.pop() if free else numpy.empty(size, dtype)

    def give(self, array: _Array) -> None:
        self._free.setdefault((array.size, array.dtype.char), []).append(array)


class Messages(Transport):
    """Transport of gradients on the host by MPI, for ranks on any hosts.

    Each rank owns a part of the array: it receives that part from all others, computes the mean in
    at least float32 and sends it back (reduce-scatter, then allgather). This sends the least data
    possible, and one rank computes each element, so all ranks get the same bits.

    Args:
        channel (Channel): Where the messages travel.

    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pool = Pool()

    def forget(self) -> None:
        self._pool = Pool()

    def steps(self, buckets: Sequence[Bucket]) -> Steps:
        for bucket in buckets:
            yield from self.mean(bucket, bucket.pack())
        yield None
        for bucket in buckets:
            bucket.unpack()

    def mean(self, bucket: Bucket, flat: _Array) -> Steps:
        """Replaces the flat array of a bucket, or a copy of it on the host, by its mean."""
        if bucket.wire == dtypes.INT8:
            yield from int8.mean(self._channel, self._pool, bucket, flat)
        else:
            yield from self.mean_of(self._channel.next_tag(), flat, bucket.parts, bucket.wire)

    def mean_of(self, tag: int, flat: _Array, parts: Sequence[slice], wire: str | None) -> Steps:
        """Replaces a flat array by its mean.

        Args:
            tag: The first of two tags.
            flat: The array.
            parts: Elements that each rank adds.
            wire: The 16-bit dtype in which they are sent, if any.

        """
        channel = self._channel
        own = flat[parts[channel.rank]]
        sent = yield from self._add_parts(tag, flat, parts, own, wire)
        yield self.share(tag + 1, sent, parts)
        if wire is not None:
            kernels.decode(sent, wire, flat)
            self._pool.give(sent)

    def share(self, tag: int, flat: _Array, parts: Sequence[slice]) -> list[Any]:
        """Starts to give this rank's part of an array to all others, and to take theirs."""
        channel = self._channel
        # The parts of the others have been sent, so their means take the same memory.
        theirs = {i: flat[parts[i]] for i in channel.others}
        return channel.exchange(tag, dict.fromkeys(theirs, flat[parts[channel.rank]]), theirs)

    def own_mean(
        self, flat: _Array, parts: Sequence[slice], wire: str | None, result: _Array
    ) -> Steps:
        """Computes this rank's part of the mean of a flat array, which stays as it is.

        Args:
            flat: The array.
            parts: Elements that each rank gets.
            wire: The 16-bit dtype in which they are sent, if any.
            result: This rank's part of the array, which is replaced by the mean.

        """
        yield from self.own_mean_of(self._channel.next_tag(), flat, parts, wire, result)

    def own_mean_of(
        self, tag: int, flat: _Array, parts: Sequence[slice], wire: str | None, result: _Array
    ) -> Steps:
        """Does the same with the first of two tags."""
        sent = yield from self._add_parts(tag, flat, parts, result, wire)
        if wire is not None:
            # Rounded, as where all ranks get the mean.
            kernels.decode(sent[parts[self._channel.rank]], wire, result)
            self._pool.give(sent)

    def _add_parts(
        self, tag: int, flat: _Array, parts: Sequence[slice], own: _Array, wire: str | None
    ) -> Generator[Sequence[Any], None, _Array]:
        """Replaces ``own``, this rank's part, by the mean; returns the array that is sent."""
        channel, pool = self._channel, self._pool
        sent = self._encode(flat, parts, wire)
        theirs = {i: sent[parts[i]] for i in channel.others}
        received = {i: pool.take(own.size, sent.dtype) for i in channel.others}
        yield channel.exchange(tag, theirs, received)
        # All parts must have come: adding them as they come would round in the order of arrival.
        self._add(own, received, wire, sent[parts[channel.rank]])
        for array in received.values():
            pool.give(array)
        return sent

    def _encode(self, flat: _Array, parts: Sequence[slice], wire: str | None) -> _Array:
        """Returns what is sent: the array itself, or one of 16-bit numbers."""
        if wire is None:
            return flat
        sent = self._pool.take(flat.size, numpy.dtype(numpy.uint16))
        # This rank's part is not rounded before it is added, only the parts that are sent.
        for i in self._channel.others:
            kernels.encode(flat[parts[i]], wire, sent[parts[i]])
        return sent

    def _add(
        self, own: _Array, received: dict[int, _Array], wire: str | None, sent: _Array
    ) -> None:
        """Replaces this rank's part by the mean, rounded in what is sent."""
        ranks = range(self._channel.size)
        if wire is None:
            # Always in the order of the ranks, which makes the rounding reproducible.
            kernels.mean([received.get(i, own) for i in ranks], [own])
            return
        # A block stays in the cache from decoding to encoding.
        for start in range(0, own.size, kernels.BLOCK):
            block = slice(start, start + kernels.BLOCK)
            arrays = {i: kernels.decode(array[block], wire) for i, array in received.items()}
            kernels.mean([arrays.get(i, own[block]) for i in ranks], [own[block]])
            kernels.encode(own[block], wire, sent[block])
