"""Communicators with the methods of mpi4py's that this package calls."""

from __future__ import annotations

import hashlib
import os
import pickle
from typing import TYPE_CHECKING, Any

import numpy

from chainermn._tcp import collectives
from chainermn._tcp.collectives import bytes_of
from chainermn._tcp.engine import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainermn._tcp.collectives import Steps
    from chainermn._tcp.engine import Engine, Message

ANY = -1  # source or tag
IDENTICAL, CONGRUENT, UNEQUAL = 0, 1, 3
_COLLECTIVE = 'collective'


class Status:
    """What is known of a message that was received."""

    def __init__(self) -> None:
        self.source, self.tag, self.count = ANY, ANY, 0

    def Get_source(self) -> int:
        return self.source

    def Get_tag(self) -> int:
        return self.tag

    def Get_count(self, datatype: object = None) -> int:
        """Its bytes."""
        return self.count

    def Set(self, comm: Comm, message: Message) -> None:
        """Sets all."""
        self.source = comm.ranks.index(message.source)
        self.tag, self.count = message.tag, len(message.data)


class Group:
    """Ranks, by their numbers in the job."""

    def __init__(self, ranks: Sequence[int]) -> None:
        self.ranks = [*ranks]

    @property
    def size(self) -> int:
        return len(self.ranks)

    def Free(self) -> None:
        """Does nothing."""

    @staticmethod
    def Translate_ranks(group: Group, ranks: Sequence[int], world: Group) -> list[int]:
        """Numbers of ranks in the job, which they keep when others are lost."""
        return [group.ranks[rank] for rank in ranks]


class Point:
    """Messages of one call of all ranks, which no other call sees.

    Attributes:
        rank: This rank.
        size: Number of ranks.
        others: The other ranks.

    """

    def __init__(self, comm: Comm, tag: int) -> None:
        self._comm = comm
        self._tag = tag
        self.rank, self.size = comm.rank, comm.size
        self.others = [i for i in range(comm.size) if i != comm.rank]

    def send(self, dest: int, data: memoryview) -> Request:
        comm = self._comm
        return comm.engine.send(comm.collective_id, comm.ranks[dest], self._tag, data)

    def receive(self, source: int, data: memoryview) -> Request:
        comm = self._comm
        return comm.engine.receive(comm.collective_id, comm.ranks[source], self._tag, data)


class _Running(Request):
    """A call of all ranks that may still run."""

    def __init__(self, engine: Engine, steps: Steps) -> None:
        super().__init__(engine)
        self._steps = steps
        self._requests: Sequence[Request] | None = next(steps, None)

    def is_done(self) -> bool:
        while self._requests is not None and all([r.is_done() for r in self._requests]):
            self._requests = next(self._steps, None)
        return self._requests is None

    def sources(self) -> Sequence[int]:
        return [i for request in self._requests or () for i in request.sources()]


class _Taken:
    """A message that was found by ``Mprobe``."""

    def __init__(self, engine: Engine, message: Message) -> None:
        self._engine = engine
        self._message = message

    def Recv(self, buffer: Any) -> None:
        self._engine.wait(lambda: self._message.is_complete, tuple)
        self._message.copy_to(bytes_of(buffer))


class Comm:
    """Ranks that exchange messages.

    Args:
        engine: All messages of this process.
        ranks: Those that take part, by their numbers in the job.
        name: What tells it from other communicators, the same on all its ranks.

    """

    def __init__(self, engine: Engine, ranks: Sequence[int], name: str) -> None:
        self.engine = engine
        self.ranks = [*ranks]
        self.rank = self.ranks.index(engine.rank)
        self.size = len(self.ranks)
        self._name = name
        self._id = _number(name)
        self.collective_id = _number(f'{name}/{_COLLECTIVE}')
        self._n_calls = 0
        self._n_children = 0

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    # -- other communicators

    def Dup(self) -> Comm:
        return Comm(self.engine, self.ranks, self._child_name(0))

    def Split(self, color: int = 0, key: int = 0) -> Comm:
        name = self._child_name(color)
        rows = numpy.empty((self.size, 2), numpy.int64)
        self.Allgather(numpy.array([color, key], numpy.int64), rows)
        members = [i for i in range(self.size) if rows[i, 0] == color]
        members.sort(key=lambda i: (rows[i, 1], i))
        return Comm(self.engine, [self.ranks[i] for i in members], name)

    def _child_name(self, color: int) -> str:
        # All ranks make their communicators in the same order, so they need not agree on a name.
        self._n_children += 1
        return f'{self._name}/{self._n_children}:{color}'

    def Free(self) -> None:
        """Does nothing: there is no limit to communicators."""

    def Get_group(self) -> Group:
        return Group(self.ranks)

    @staticmethod
    def Compare(one: Comm, other: Comm) -> int:
        if one._id == other._id:
            return IDENTICAL
        return CONGRUENT if one.ranks == other.ranks else UNEQUAL

    def Abort(self, errorcode: int = 0) -> None:
        """Ends this process, on which the launcher ends all."""
        os._exit(errorcode or 1)

    # -- messages

    def Isend(self, buffer: Any, dest: int, tag: int = 0) -> Request:
        return self.engine.send(self._id, self.ranks[dest], tag, bytes_of(buffer))

    def Irecv(self, buffer: Any, source: int = ANY, tag: int = ANY) -> Request:
        return self.engine.receive(self._id, self._number_of(source), tag, bytes_of(buffer))

    def Send(self, buffer: Any, dest: int, tag: int = 0) -> None:
        self.Isend(buffer, dest, tag).Wait()

    def Recv(self, buffer: Any, source: int = ANY, tag: int = ANY) -> None:
        self.Irecv(buffer, source, tag).Wait()

    def Iprobe(self, source: int = ANY, tag: int = ANY) -> bool:
        self.engine.advance()
        if self.engine.find(self._id, self._number_of(source), tag) is not None:
            return True
        if source >= 0:
            self.engine.check(lambda: self._missing(self.ranks[source], tag))
        else:  # there may be nobody who sends any
            self.engine.check(tuple)
        return False

    def _missing(self, source: int, tag: int) -> Sequence[int]:
        """The rank that a probe waits for, unless its message is there."""
        return () if self.engine.find(self._id, source, tag) is not None else (source,)

    def Mprobe(self, source: int = ANY, tag: int = ANY, status: Status | None = None) -> _Taken:
        source = self._number_of(source)
        found: list[Message] = []

        def is_found() -> bool:
            message = self.engine.take(self._id, source, tag)
            if message is not None:
                found.append(message)
            return message is not None

        self.engine.wait(is_found, lambda: self._missing(source, tag))
        if status is not None:
            status.Set(self, found[0])
        return _Taken(self.engine, found[0])

    def _number_of(self, source: int) -> int:
        return ANY if source < 0 else self.ranks[source]

    # -- messages of pickled objects

    def isend(self, obj: object, dest: int, tag: int = 0) -> Request:
        return self.Isend(bytearray(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)), dest, tag)

    def iprobe(self, source: int = ANY, tag: int = ANY) -> bool:
        return self.Iprobe(source, tag)

    def recv(self, source: int = ANY, tag: int = ANY) -> Any:
        status = Status()
        message = self.Mprobe(source, tag, status)
        data = bytearray(status.count)
        message.Recv(data)
        return pickle.loads(data)

    def bcast(self, obj: Any, root: int = 0) -> Any:
        data = pickle.dumps(obj, pickle.HIGHEST_PROTOCOL) if self.rank == root else b''
        size = numpy.array(len(data), numpy.int64)
        self.Bcast(size, root)
        message = bytearray(data or int(size))
        self.Bcast(message, root)
        return obj if self.rank == root else pickle.loads(message)

    # -- calls of all ranks

    def Barrier(self) -> None:
        self.Ibarrier().Wait()

    def Ibarrier(self) -> Request:
        return self.Iallgather(numpy.zeros(1, numpy.uint8), numpy.empty(self.size, numpy.uint8))

    def Bcast(self, buffer: Any, root: int = 0) -> None:
        self._start(lambda point: collectives.bcast(point, bytes_of(buffer), root)).Wait()

    def Allgather(self, own: Any, rows: Any) -> None:
        self.Iallgather(own, rows).Wait()

    def Iallgather(self, own: Any, rows: Any) -> Request:
        parts = self._rows(rows)
        return self._start(lambda point: collectives.allgather(point, bytes_of(own), parts))

    def Alltoall(self, outgoing: Any, incoming: Any) -> None:
        sent, rows = self._rows(outgoing), self._rows(incoming)
        rows[self.rank][:] = sent[self.rank]
        by_rank = {i: part for i, part in enumerate(sent) if i != self.rank}
        self._start(lambda point: collectives.exchange(point, by_rank, rows)).Wait()

    def Allreduce(self, in_place: Any, array: Any, op: Any = numpy.add) -> None:
        self.Iallreduce(in_place, array, op).Wait()

    def Iallreduce(self, in_place: Any, array: Any, op: Any = numpy.add) -> Request:
        if not isinstance(array, numpy.ndarray) or not array.flags.c_contiguous:
            raise TypeError(
                f'the transport TCP adds contiguous NumPy arrays, not {type(array).__name__}: '
                'choose the communicator non_cuda_aware or pure_nccl for arrays on GPUs'
            )
        return self._start(lambda point: collectives.allreduce(point, array, op))

    def _rows(self, buffer: Any) -> list[memoryview]:
        """Divides a buffer between the ranks."""
        data = bytes_of(buffer)
        n = len(data) // self.size
        return [data[i * n : (i + 1) * n] for i in range(self.size)]

    def _start(self, call: Callable[[Point], Steps]) -> Request:
        self._n_calls += 1
        return _Running(self.engine, call(Point(self, self._n_calls % 2**31)))


def _number(name: str) -> int:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    # The largest numbers are the engine's own.
    return int.from_bytes(digest, 'little') >> 1
