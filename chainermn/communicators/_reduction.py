"""Means of an array over all ranks, computed while the caller goes on.

Each rank owns a part of the array: it receives that part from all others, computes the mean in at
least float32 and sends it back. This moves as little data as possible, adds in the order of the
ranks, so that all get the same bits, and rounds to 16 bits only what is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainermn._mpi import mpi
from chainermn.communicators import _kernels
from chainermn.communicators._messages import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainermn.communicators._gradients import Bucket
    from chainermn.communicators._shared_rows import Slots

# Bytes of a message. The two directions of a connection would take turns for long ones.
_PIECE = 1 << 18
_SIGNAL = numpy.zeros(1, numpy.uint8)


def bounds_of(size: int, n_ranks: int) -> list[int]:
    """Where the parts of the ranks begin in an array of ``size`` elements, and its end."""
    return [size * i // n_ranks for i in range(n_ranks + 1)]


class Memory:
    """Arrays that means use again: new ones cost the time in which the system clears them."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, str], list[numpy.ndarray[Any, Any]]] = {}

    def take(self, size: int, dtype: numpy.dtype[Any]) -> numpy.ndarray[Any, Any]:
        """Returns a flat array with any contents."""
        free = self._free.get((size, dtype.char))
        return free.pop() if free else numpy.empty(size, dtype)

    def give(self, array: numpy.ndarray[Any, Any]) -> None:
        """Takes an array back that nothing uses any more."""
        self._free.setdefault((array.size, array.dtype.char), []).append(array)


def parts_of(size: int, n_ranks: int) -> list[slice]:
    """The elements of an array that each rank adds."""
    bounds = bounds_of(size, n_ranks)
    return [slice(a, b) for a, b in zip(bounds, bounds[1:])]


class _StagedMean:
    """Mean over all ranks on its way: stages with messages between them.

    Args:
        mpi_comm: Communicator for these messages alone.
        tag: First of two tags that no other pending mean uses.

    """

    def __init__(self, mpi_comm: Any, tag: int) -> None:
        self._comm = mpi_comm
        self._tag = tag
        self._others = [i for i in range(mpi_comm.size) if i != mpi_comm.rank]
        self._requests: list[Any] = []
        self._stages: list[Callable[[], None]] = []

    def _exchange(self, tag: int, outgoing: dict[int, Any], incoming: dict[int, Any]) -> list[Any]:
        requests = []
        for call, arrays in (self._comm.Irecv, incoming), (self._comm.Isend, outgoing):
            for i, array in arrays.items():
                requests += [call(piece, i, tag) for piece in parts(array, _PIECE)]
        return requests

    def test(self) -> bool:
        """Goes on as far as possible without waiting; tells whether the mean is there."""
        while self._stages and mpi().Request.Testall(self._requests):
            self._requests = []
            self._stages.pop(0)()
        return not self._stages

    def wait(self) -> None:
        """Waits for the mean."""
        while self._stages:
            mpi().Request.Waitall(self._requests)
            self._requests = []
            self._stages.pop(0)()


class Mean(_StagedMean):
    """Mean of a flat host array whose parts are sent as messages.

    Args:
        mpi_comm: Communicator for these messages alone.
        tag: First of two tags that no other pending mean uses.
        flat: Contiguous array of floating point numbers, replaced by the mean.
        wire: ``'float16'`` or ``'bfloat16'``, or ``None`` for the dtype of the array.
        memory: Where arrays to receive come from.

    """

    def __init__(
        self,
        mpi_comm: Any,
        tag: int,
        flat: numpy.ndarray[Any, Any],
        wire: str | None,
        memory: Memory,
    ) -> None:
        super().__init__(mpi_comm, tag)
        self._flat = flat
        self._parts = parts_of(flat.size, mpi_comm.size)
        self._own = self._parts[mpi_comm.rank]
        self._wire = wire
        self._memory = memory
        self._sent = flat
        if wire is not None:
            self._sent = memory.take(flat.size, numpy.dtype(numpy.uint16))
            for i in self._others:
                part = self._parts[i]
                _kernels.encode(flat[part], wire, self._sent[part])
        shape = self._own.stop - self._own.start
        dtype = self._sent.dtype
        self._received = {i: self._memory.take(shape, dtype) for i in self._others}
        self._stages = [self._add, self._gather, self._finish]
        self._requests = self._exchange(
            tag, {i: self._sent[self._parts[i]] for i in self._others}, self._received
        )
        self.test()

    def _add(self) -> None:
        own = self._flat[self._own]
        if self._wire is None:
            _kernels.mean(self._sources(slice(None)), [own])
        else:
            rounded = self._sent[self._own]
            for start in range(0, own.size, _kernels.BLOCK):
                block = slice(start, start + _kernels.BLOCK)
                _kernels.mean(self._sources(block), [own[block]])
                _kernels.encode(own[block], self._wire, rounded[block])
        while self._received:
            self._memory.give(self._received.popitem()[1])

    def _sources(self, block: slice) -> list[Any]:
        """What the ranks have in a block of this rank's part."""
        arrays: dict[int, Any] = {i: array[block] for i, array in self._received.items()}
        if self._wire is not None:
            arrays = {i: _kernels.decode(array, self._wire) for i, array in arrays.items()}
        arrays[self._comm.rank] = self._flat[self._own][block]
        return [arrays[i] for i in range(self._comm.size)]  # in the same order on each rank

    def _gather(self) -> None:
        own = self._sent[self._own]
        self._requests = self._exchange(
            self._tag + 1,
            dict.fromkeys(self._others, own),
            {i: self._sent[self._parts[i]] for i in self._others},
        )

    def _finish(self) -> None:
        if self._wire is not None:
            _kernels.decode(self._sent, self._wire, self._flat)
            self._memory.give(self._sent)


class SharedMean(_StagedMean):
    """Means of buckets in memory that the ranks share: messages only say what is there.

    Each rank reads its part of the arrays of all ranks, and writes the means in place of what it
    has read: that is in the cache. An array that is in a slot or a row is not copied. Of another
    one, the parts of the other ranks go through the row.

    Args:
        mpi_comm: Communicator of ranks on one host, for these messages alone.
        tag: First of two tags that no other pending mean uses.
        buckets: Buckets with rows, which are packed.
        slots: Other memory that the ranks share, where some of the gradients may be.

    """

    def __init__(
        self, mpi_comm: Any, tag: int, buckets: Sequence[Bucket], slots: Slots | None
    ) -> None:
        super().__init__(mpi_comm, tag)
        self._buckets = buckets
        self._slots: Any = slots
        self._copied: list[tuple[Any, Any]] = []  # parts of other ranks, of arrays and of rows
        # Where the arrays are: the number of a slot, or -1 for the row.
        numbers = numpy.full(len(buckets), -1, numpy.int32)
        for k, bucket in enumerate(buckets):
            row = bucket.rows[mpi_comm.rank]
            if bucket.flat is row:
                continue
            if slots is not None:
                numbers[k] = slots.find(bucket.flat)
            if numbers[k] < 0:
                parts = [bucket.parts[i] for i in self._others]
                self._copied += [(bucket.flat[part], row[part]) for part in parts]
        for part, shared in self._copied:
            shared[...] = part
        self._numbers = {i: numpy.empty_like(numbers) for i in self._others}
        self._stages = [self._add, self._collect]
        # Others touch what this rank shares only between its message here and theirs in `_add`.
        self._requests = self._exchange(tag, dict.fromkeys(self._others, numbers), self._numbers)
        self.test()

    def _add(self) -> None:
        rank = self._comm.rank
        for k, bucket in enumerate(self._buckets):
            arrays = [*bucket.rows]
            for i in self._others:
                if self._numbers[i][k] >= 0:
                    arrays[i] = self._slots.get(self._numbers[i][k], i, bucket.dtype)
            arrays[rank] = bucket.flat
            sources = [array[bucket.parts[rank]] for array in arrays]
            _kernels.mean(sources, sources)
        signals = {i: numpy.empty(1, numpy.uint8) for i in self._others}
        self._requests = self._exchange(
            self._tag + 1, dict.fromkeys(self._others, _SIGNAL), signals
        )

    def _collect(self) -> None:
        for part, shared in self._copied:
            part[...] = shared
