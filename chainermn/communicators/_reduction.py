"""Means of an array over all ranks, computed while the caller goes on.

Each rank owns a part of the array: it receives that part from all others, computes the mean in at
least float32 and sends it back. This moves as little data as possible, adds in the order of the
ranks, so that all get the same bits, and rounds to 16 bits only what travels.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backends import cuda
from chainermn._mpi import mpi
from chainermn.communicators._messages import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Dtypes of 16 bits in which float32 can travel.
HALVES = 'float16', 'bfloat16'


# Elements that are rounded or added at once on the host: they stay in the cache.
_BLOCK = 1 << 15
_SIGNAL = numpy.zeros(1, numpy.uint8)


def encode(array: Any, wire: str) -> Any:
    """Rounds a float32 array to 16 bits, given as uint16; on NumPy and CuPy arrays."""
    if wire == 'float16':
        return array.astype(numpy.float16).view(numpy.uint16)
    xp = cuda.get_array_module(array)
    result = xp.empty(array.size, numpy.uint16)
    step = _BLOCK if xp is numpy else max(array.size, 1)
    for start in range(0, array.size, step):
        part = array[start : start + step]
        bits = part.view(numpy.uint32)
        rounded = bits >> numpy.uint32(16)
        rounded &= numpy.uint32(1)  # ties go to even numbers
        rounded += numpy.uint32(0x7FFF)
        rounded += bits
        # Rounding would turn some not-a-numbers into numbers.
        rounded[part != part] = 0x7FC00000
        result[start : start + step] = _upper_halves(rounded)
    return result


def decode(bits: Any, wire: str) -> Any:
    """Inverse of :func:`encode`."""
    if wire == 'float16':
        return bits.view(numpy.float16).astype(numpy.float32)
    result = cuda.get_array_module(bits).zeros(bits.size, numpy.uint32)
    _upper_halves(result)[...] = bits
    return result.view(numpy.float32)


def _upper_halves(words: Any) -> Any:
    """Upper 16 of the 32 bits of each element, in its memory."""
    return words.view(numpy.uint16)[_UPPER::2]


_UPPER = 1 if sys.byteorder == 'little' else 0


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


class _StagedMean:
    """Mean of a flat host array over all ranks, on its way: stages with messages between them.

    Args:
        mpi_comm: Communicator for these messages alone.
        tag: First of two tags that no other pending mean uses.
        flat: Contiguous array of floating point numbers, replaced by the mean.

    """

    def __init__(self, mpi_comm: Any, tag: int, flat: numpy.ndarray[Any, Any]) -> None:
        self._comm = mpi_comm
        self._tag = tag
        self._flat = flat
        bounds = bounds_of(flat.size, mpi_comm.size)
        self._parts = [slice(a, b) for a, b in zip(bounds, bounds[1:])]
        self._own = self._parts[mpi_comm.rank]
        self._others = [i for i in range(mpi_comm.size) if i != mpi_comm.rank]
        self._requests: list[Any] = []
        self._stages: list[Callable[[], None]] = []

    def _exchange(self, tag: int, outgoing: dict[int, Any], incoming: dict[int, Any]) -> list[Any]:
        requests = [
            self._comm.Irecv(part, i, tag) for i, array in incoming.items() for part in parts(array)
        ]
        return requests + [
            self._comm.Isend(part, i, tag) for i, array in outgoing.items() for part in parts(array)
        ]

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
    """Mean whose parts travel as messages.

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
        super().__init__(mpi_comm, tag, flat)
        self._wire = wire
        self._travelling = flat if wire is None else encode(flat, wire)
        shape = self._own.stop - self._own.start
        self._memory = memory
        dtype = self._travelling.dtype
        self._received = {i: self._memory.take(shape, dtype) for i in self._others}
        self._stages = [self._add, self._gather, self._finish]
        self._requests = self._exchange(
            tag, {i: self._travelling[self._parts[i]] for i in self._others}, self._received
        )
        self.test()

    def _add(self) -> None:
        own = self._flat[self._own]
        total = None
        for i in range(self._comm.size):  # in the same order on each rank
            if i == self._comm.rank:
                array = own
            elif self._wire is None:
                array = self._received[i]
            else:
                array = decode(self._received[i], self._wire)
            if total is None:
                total = array
            else:
                total += array
        assert total is not None
        numpy.multiply(total, total.dtype.type(1 / self._comm.size), out=own)
        while self._received:
            self._memory.give(self._received.popitem()[1])

    def _gather(self) -> None:
        if self._wire is not None:
            self._travelling[self._own] = encode(self._flat[self._own], self._wire)
        own = self._travelling[self._own]
        self._requests = self._exchange(
            self._tag + 1,
            dict.fromkeys(self._others, own),
            {i: self._travelling[self._parts[i]] for i in self._others},
        )

    def _finish(self) -> None:
        if self._wire is not None:
            self._flat[...] = decode(self._travelling, self._wire)


class SharedMean(_StagedMean):
    """Mean whose parts travel in memory that the ranks share: messages only say what is there.

    Args:
        mpi_comm: Communicator of ranks on one host, for these messages alone.
        tag: First of two tags that no other pending mean uses.
        flat: Contiguous array of floating point numbers, replaced by the mean.
        rows: One array like ``flat`` for each rank, which no other pending mean uses.

    """

    def __init__(
        self,
        mpi_comm: Any,
        tag: int,
        flat: numpy.ndarray[Any, Any],
        rows: Sequence[numpy.ndarray[Any, Any]],
    ) -> None:
        super().__init__(mpi_comm, tag, flat)
        self._rows = rows
        for i in self._others:
            rows[mpi_comm.rank][self._parts[i]] = flat[self._parts[i]]
        self._stages = [self._add, self._collect]
        self._signal(tag)
        self.test()

    def _signal(self, tag: int) -> None:
        # Whoever got the signals of all others of the second stage may write to its row again:
        # they have read it.
        signals = {i: numpy.empty(1, numpy.uint8) for i in self._others}
        self._requests = self._exchange(tag, dict.fromkeys(self._others, _SIGNAL), signals)

    def _add(self) -> None:
        rank = self._comm.rank
        sources = [self._flat if i == rank else row for i, row in enumerate(self._rows)]
        scale = self._flat.dtype.type(1 / self._comm.size)
        for start in range(self._own.start, self._own.stop, _BLOCK):
            block = slice(start, min(start + _BLOCK, self._own.stop))
            total = self._rows[rank][block]
            numpy.add(sources[0][block], sources[1][block], out=total)
            for source in sources[2:]:  # in the same order on each rank
                total += source[block]
            total *= scale
            self._flat[block] = total
        self._signal(self._tag + 1)

    def _collect(self) -> None:
        for i in self._others:
            self._flat[self._parts[i]] = self._rows[i][self._parts[i]]
