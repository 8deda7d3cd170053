"""Calls of all ranks of a communicator, as steps with messages between them.

Each is a generator that yields requests, which must complete before the next step. Sums are made in
the order of the ranks, by one rank for each element, so that all ranks get the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chainermn._tcp.comm import Point
    from chainermn._tcp.engine import Request

    Steps = Iterator[Sequence[Request]]


def bcast(point: Point, data: memoryview, root: int) -> Steps:
    """Sends bytes of the root to all, by a tree."""
    size = point.size
    own = (point.rank - root) % size
    step = 1
    while step < size and not own & step:
        step *= 2
    if own:
        yield [point.receive((own - step + root) % size, data)]
    steps = [2**i for i in range(size.bit_length()) if 2**i < step and own + 2**i < size]
    yield [point.send((own + i + root) % size, data) for i in reversed(steps)]


def allgather(point: Point, own: memoryview, rows: Sequence[memoryview]) -> Steps:
    """Sends bytes of each rank to all."""
    rows[point.rank][:] = own
    yield from exchange(point, dict.fromkeys(point.others, own), rows)


def exchange(point: Point, outgoing: dict[int, memoryview], rows: Sequence[memoryview]) -> Steps:
    """Sends bytes to each rank, and receives those of each."""
    requests: list[Request] = [point.receive(i, rows[i]) for i in point.others]
    yield requests + [point.send(i, data) for i, data in outgoing.items()]


def allreduce(
    point: Point, array: numpy.ndarray[Any, Any], combine: Callable[[Any, Any, Any], Any]
) -> Steps:
    """Replaces an array by what ``combine(a, b, out)`` makes of those of all ranks."""
    flat = array.reshape(-1)
    bounds = [flat.size * i // point.size for i in range(point.size + 1)]
    parts = [flat[start:end] for start, end in zip(bounds, bounds[1:])]
    own = parts[point.rank]
    theirs = [numpy.empty_like(own) for _ in parts]
    sent = {i: bytes_of(parts[i]) for i in point.others}
    yield from exchange(point, sent, [bytes_of(a) for a in theirs])
    theirs[point.rank] = own.copy()
    own[...] = theirs[0]
    for a in theirs[1:]:
        combine(own, a, own)
    sent = dict.fromkeys(point.others, bytes_of(own))
    yield from exchange(point, sent, [bytes_of(part) for part in parts])


def bytes_of(buffer: Any) -> memoryview:
    """Returns the bytes of a contiguous array or another buffer, which may be changed.

    Raises:
        ValueError: If the array is not contiguous.
        TypeError: If it is not in the memory of this host.

    """
    if isinstance(buffer, (list, tuple)):  # with its datatype
        buffer = buffer[0]
    if isinstance(buffer, numpy.ndarray):
        if not buffer.flags.c_contiguous:
            raise ValueError('messages are made of contiguous arrays only')
        # By its bytes: not every dtype has a buffer, such as bfloat16.
        return buffer.reshape(-1).view(numpy.uint8).data
    return memoryview(buffer).cast('B')
