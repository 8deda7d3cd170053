"""Messages between ranks: objects and arrays, split where they are large.

MPI libraries count elements with 32 bits, so no call here passes more than :data:`LIMIT` bytes.

Nothing in this package makes mpi4py's own collective calls on objects, such as ``comm.bcast``. The
first one on a communicator duplicates it and keeps Python's lock until all ranks have come, so the
watchdog and all other threads would stand still.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy

from chainermn._mpi import mpi
from chainermn._recorder import recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Most bytes of one MPI call.
LIMIT = 256 * 1024 * 1024
#: Bytes of a message where both ends send: with longer ones, the two directions take turns.
PIECE = 1 << 18
_LENGTH = 8  # bytes of the length at the head of an object
_FIRST = 248  # bytes of each object that ranks exchange at once


def parts(buffer: Any, limit: int | None = None) -> Iterator[Any]:
    """Divides a contiguous array or bytes into flat views of at most ``limit`` bytes."""
    flat = numpy.frombuffer(buffer, numpy.uint8) if isinstance(buffer, (bytes, bytearray)) else None
    if flat is None:
        flat = buffer.reshape(-1).view(numpy.uint8)
    step = limit or LIMIT
    for start in range(0, flat.size, step):
        yield flat[start : start + step]
        recorder.ticks += 1  # a large message makes progress


def pickled(obj: Any) -> numpy.ndarray[Any, Any]:
    """Bytes of an object, as :func:`receive_object` takes them."""
    with recorder.busy():
        data = pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)
    message = numpy.empty(_LENGTH + len(data), numpy.uint8)
    message[:_LENGTH].view(numpy.int64)[0] = len(data)
    message[_LENGTH:] = numpy.frombuffer(data, numpy.uint8)
    return message


def _unpickle(data: numpy.ndarray[Any, Any]) -> Any:
    with recorder.busy():
        return pickle.loads(data.data)


def send_object(mpi_comm: Any, obj: Any, dest: int, tag: int) -> None:
    """Sends the pickle of an object."""
    for part in parts(pickled(obj)):
        mpi_comm.Send(part, dest, tag)


def receive_object(mpi_comm: Any, source: int, tag: int, status: Any = None) -> Any:
    """Receives an object; ``source`` and ``tag`` may be MPI's wildcards."""
    status = mpi().Status() if status is None else status
    message = mpi_comm.Mprobe(source, tag, status)
    # The rest comes from the same rank with the same tag.
    source, tag = status.Get_source(), status.Get_tag()
    head = numpy.empty(status.Get_count(mpi().BYTE), numpy.uint8)
    message.Recv(head)
    data = numpy.empty(int(head[:_LENGTH].view(numpy.int64)[0]), numpy.uint8)
    got = head.size - _LENGTH
    data[:got] = head[_LENGTH:]
    for part in parts(data[got:]):
        mpi_comm.Recv(part, source, tag)
    return _unpickle(data)


def broadcast_object(mpi_comm: Any, obj: Any, root: int, limit: int | None = None) -> Any:
    """Sends an object to all ranks; returns it, on the root itself."""
    is_root = mpi_comm.rank == root
    data = pickled(obj)[_LENGTH:] if is_root else None
    size = numpy.array(0 if data is None else data.size, numpy.int64)
    mpi_comm.Bcast(size, root)
    if data is None:
        data = numpy.empty(int(size), numpy.uint8)
    for part in parts(data, limit):
        mpi_comm.Bcast(part, root)
    return obj if is_root else _unpickle(data)


def exchange_objects(mpi_comm: Any, objects: Sequence[Any]) -> list[Any]:
    """Sends an object to each rank; returns those that the ranks send to this one."""
    with recorder.busy():
        outgoing = [pickle.dumps(obj, pickle.HIGHEST_PROTOCOL) for obj in objects]
    heads = [len(data).to_bytes(_LENGTH, 'little') + data[:_FIRST] for data in outgoing]
    size = _LENGTH + _FIRST
    theirs = bytearray(size * len(heads))
    mpi_comm.Alltoall(b''.join([head.ljust(size, b'\0') for head in heads]), theirs)
    incoming = [_begin(theirs[i : i + size]) for i in range(0, len(theirs), size)]
    exchange(mpi_comm, _rest(outgoing), _rest(incoming))
    with recorder.busy():
        return [pickle.loads(data) for data in incoming]


def _begin(head: bytearray) -> bytearray:
    """Makes room for an object of which the head has come."""
    data = bytearray(int.from_bytes(head[:_LENGTH], 'little'))
    n = min(len(data), _FIRST)
    data[:n] = head[_LENGTH : _LENGTH + n]
    return data


def _rest(objects: Sequence[bytes | bytearray]) -> list[tuple[int, Any]]:
    """Returns what remains of objects for which heads are too small, with their ranks."""
    return [
        (rank, numpy.frombuffer(data, numpy.uint8)[_FIRST:])
        for rank, data in enumerate(objects)
        if len(data) > _FIRST
    ]


def any_rank(mpi_comm: Any, flag: bool) -> bool:
    """Tells whether a flag is set on some rank."""
    result = numpy.array(flag)
    mpi_comm.Allreduce(mpi().IN_PLACE, result, mpi().LOR)
    return bool(result)


def exchange(
    mpi_comm: Any, outgoing: Sequence[tuple[int, Any]], incoming: Sequence[tuple[int, Any]]
) -> None:
    """Sends and receives contiguous arrays at once, in both directions.

    Args:
        mpi_comm: Communicator.
        outgoing: Pairs of a rank and an array to send to it.
        incoming: Pairs of a rank and an array to fill.

    """
    requests = []
    # Receives first, so that messages find their buffers when they come.
    for call, arrays in (mpi_comm.Irecv, incoming), (mpi_comm.Isend, outgoing):
        requests += [call(part, rank) for rank, array in arrays for part in parts(array, PIECE)]
    mpi().Request.Waitall(requests)


def gather_objects(mpi_comm: Any, obj: Any, root: int) -> list[Any] | None:
    """Sends an object of each rank to the root; returns the list there, else ``None``."""
    if mpi_comm.rank != root:
        send_object(mpi_comm, obj, root, 0)
        return None
    return [
        obj if source == root else receive_object(mpi_comm, source, 0)
        for source in range(mpi_comm.size)
    ]
