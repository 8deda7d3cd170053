"""Calls of communicators on arrays, by MPI and the memory of the host.

Each call first tells the receivers the shapes, dtypes and devices of the arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.settings.half import FLOAT_KINDS
from chainermn import _arrays, _messages
from chainermn._mpi import mpi

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def send(mpi_comm: Any, data: Any, dest: int, tag: int) -> None:
    """Sends an array, or a tuple of arrays."""
    for part in _outgoing(data):
        mpi_comm.Send(part, dest, tag)


def start_send(mpi_comm: Any, data: Any, dest: int, tag: int) -> list[Any]:
    """Starts to send copies of arrays; returns the requests of MPI, which keep them."""
    return [mpi_comm.Isend(part.copy(), dest, tag) for part in _outgoing(data)]


def _outgoing(data: Any) -> Iterator[numpy.ndarray[Any, Any]]:
    """Yields the bytes of the messages that :func:`receive` receives."""
    is_tuple = isinstance(data, (tuple, list))
    arrays = data if is_tuple else (data,)
    specs = [_arrays.spec_of(array) for array in arrays]
    yield from _messages.parts(_messages.pickled((is_tuple, specs)))
    for array in arrays:
        yield from _messages.parts(_arrays.to_host(array))


def receive(mpi_comm: Any, source: int, tag: int) -> Any:
    """Receives what :func:`send` sends."""
    is_tuple, specs = _messages.receive_object(mpi_comm, source, tag)
    arrays = []
    for spec in specs:
        array = _arrays.empty(spec)
        for part in _messages.parts(array):
            mpi_comm.Recv(part, source, tag)
        arrays.append(_arrays.from_host(array, spec.device))
    return tuple(arrays) if is_tuple else arrays[0]


def broadcast(mpi_comm: Any, x: Any, root: int) -> Any:
    """Sends an array of the root to all ranks; returns it, on the root itself."""
    is_root = mpi_comm.rank == root
    spec = _messages.broadcast_object(mpi_comm, _arrays.spec_of(x) if is_root else None, root)
    array = _arrays.to_host(x) if is_root else _arrays.empty(spec)
    for part in _messages.parts(array):
        mpi_comm.Bcast(part, root)
    return x if is_root else _arrays.from_host(array, spec.device)


def exchange(mpi_comm: Any, outgoing: Sequence[Any]) -> tuple[Any, ...]:
    """Sends an array to each rank, where it is not ``None``; returns those for this one."""
    specs = [None if x is None else _arrays.spec_of(x) for x in outgoing]
    incoming_specs = _messages.exchange_objects(mpi_comm, specs)
    unique = {id(x): x for x in outgoing if x is not None}  # one array may go to several ranks
    hosts = {key: _arrays.to_host(x) for key, x in unique.items()}
    incoming = [None if spec is None else _arrays.empty(spec) for spec in incoming_specs]
    own = mpi_comm.rank
    others = [i for i in range(mpi_comm.size) if i != own]
    _messages.exchange(
        mpi_comm,
        [(i, hosts[id(outgoing[i])]) for i in others if outgoing[i] is not None],
        [(i, incoming[i]) for i in others if incoming[i] is not None],
    )
    if outgoing[own] is not None:
        incoming[own] = hosts[id(outgoing[own])].copy()
    pairs = zip(incoming, incoming_specs)
    return tuple([x if x is None else _arrays.from_host(x, spec.device) for x, spec in pairs])


def add(mpi_comm: Any, x: Any) -> Any:
    """Adds the arrays of all ranks, those of float16 in float32."""
    array = _arrays.to_host(x)
    dtype = numpy.promote_types(array.dtype, numpy.float32)
    total = array.astype(dtype if array.dtype.kind in FLOAT_KINDS else array.dtype)
    for part in _messages.parts(total):
        mpi_comm.Allreduce(mpi().IN_PLACE, part.view(total.dtype))
    return _arrays.like(total.astype(array.dtype, copy=False), x)
