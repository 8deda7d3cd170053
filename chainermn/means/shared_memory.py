"""Arrays in memory that all ranks share if they are on one host."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy

from chainermn import _messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

_FOLDER = '/dev/shm'
_ALIGNMENT = 64  # bytes of a line of the cache


def make_rows(
    mpi_comm: MPI.Comm, specs: Sequence[tuple[int, numpy.dtype[Any]]]
) -> list[list[numpy.ndarray[Any, Any]]] | None:
    """Makes arrays that all ranks read and write; collective.

    Args:
        mpi_comm: Communicator.
        specs: Sizes and dtypes of arrays, the same on all ranks.

    Returns:
        For each of the sizes, one array for each rank; ``None`` on all ranks if they have no memory
        in common, or not enough.

    """
    strides = [(size * dtype.itemsize // _ALIGNMENT + 1) * _ALIGNMENT for size, dtype in specs]
    memory = _map(mpi_comm, mpi_comm.size * sum(strides))
    if memory is None:
        return None
    rows = []
    start = 0
    for (size, dtype), stride in zip(specs, strides):
        end = start + mpi_comm.size * stride
        rows.append([numpy.frombuffer(memory, dtype, size, i) for i in range(start, end, stride)])
        start = end
    return rows


def _map(mpi_comm: MPI.Comm, n_bytes: int) -> mmap.mmap | None:
    """Maps a file and deletes its name, so that the system frees it when the ranks end."""
    # One rank makes the file and all map it. A name that each rank derives could be taken already.
    made = _create(n_bytes) if mpi_comm.rank == 0 else None
    try:
        path, token = _messages.broadcast_object(mpi_comm, made, 0)
        memory = None
        if path is not None:
            try:
                with open(path, 'r+b') as file:
                    memory = mmap.mmap(file.fileno(), n_bytes)
            except OSError:
                pass  # another host, or not enough memory
        # In a container with the same host name, the file of this name may be a different one.
        is_same = memory is not None and memory[: len(token)] == token
        is_common = not _messages.any_rank(mpi_comm, not is_same)
    finally:  # also if another rank is lost
        if made is not None and made[0] is not None:
            os.unlink(made[0])
    return memory if is_common else None


def _create(n_bytes: int) -> tuple[str | None, bytes]:
    token = os.urandom(16)
    if not os.path.isdir(_FOLDER):
        return None, token
    try:
        descriptor, path = tempfile.mkstemp(prefix='chainermn-', dir=_FOLDER)
    except OSError:
        return None, token
    with open(descriptor, 'wb') as file:
        file.write(token)
        file.flush()
        try:
            # Too little memory is an error here. Without this call, it would be a fatal signal when
            # a rank writes to it.
            os.posix_fallocate(descriptor, 0, n_bytes)
        except OSError:
            os.unlink(path)
            return None, token
    return path, token
