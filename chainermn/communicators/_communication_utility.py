"""Functions of Chainer 7 for ranks within and between hosts, and for messages."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy

from chainermn import _messages
from chainermn._mpi import mpi
from chainermn._nccl import init_nccl_comm as init_nccl_comm


def init_ranks(mpi_comm: Any) -> tuple[int, int, int, int, int]:
    """Numbers the processes of each host, and the hosts in the order of their first ranks.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator; the call is collective.

    Returns:
        tuple: Rank, rank on this host, number of processes on this host, number of this host,
        number of hosts.

    """
    own = hashlib.sha256(mpi().Get_processor_name().encode(errors='replace')).digest()
    digests = numpy.empty((mpi_comm.size, len(own)), numpy.uint8)
    mpi_comm.Allgather(numpy.frombuffer(own, numpy.uint8), digests)
    names = [digest.tobytes() for digest in digests]
    hosts = list(dict.fromkeys(names))
    intra_rank = names[: mpi_comm.rank].count(own)
    return mpi_comm.rank, intra_rank, names.count(own), hosts.index(own), len(hosts)


def find_hosts(mpi_comm: Any, host: int) -> list[list[int]] | None:
    """Finds the ranks of all hosts if there are several, and each has as many, of several.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator; the call is collective.
        host (int): Number of this host.

    """
    numbers = numpy.empty(mpi_comm.size, numpy.int64)
    mpi_comm.Allgather(numpy.array([host]), numbers)
    hosts = [numpy.flatnonzero(numbers == i).tolist() for i in range(numbers.max() + 1)]
    sizes = {len(ranks) for ranks in hosts}
    return hosts if len(hosts) > 1 and len(sizes) == 1 and sizes != {1} else None


def init_intra_mpi_comm(mpi_comm: Any, intra_rank: int, inter_rank: int) -> Any:
    """Returns the MPI communicator of the processes of this host."""
    return mpi_comm.Split(inter_rank, intra_rank)


def init_inter_mpi_comm(mpi_comm: Any, intra_rank: int, inter_rank: int) -> Any:
    """Returns the MPI communicator of the processes of all hosts with this rank on their host."""
    return mpi_comm.Split(intra_rank, inter_rank)


def inter_allreduce_gpu(
    inter_mpi_comm: Any,
    size: int,
    gpu_buffer_a: Any,
    gpu_buffer_b: Any,
    n_bytes_buffer: int,
    n_elems_per_node: int,
    n_bytes_per_node: int,
    cuda_stream: Any,
) -> None:
    """Replaces float32 numbers in the memory of GPUs by their sum over hosts, divided by ``size``.

    Args:
        inter_mpi_comm (mpi4py.MPI.Comm): Communicator between hosts.
        size (int): Divisor: number of all processes.
        gpu_buffer_a (DeviceMemory): Not used.
        gpu_buffer_b (DeviceMemory): Numbers, ``inter_mpi_comm.size * n_elems_per_node`` of them.
        n_bytes_buffer (int): Not used.
        n_elems_per_node (int): Number of elements for each host.
        n_bytes_per_node (int): Not used.
        cuda_stream (cupy.cuda.Stream): Stream that writes the numbers.

    """
    cuda_stream.synchronize()
    array = gpu_buffer_b.array((inter_mpi_comm.size * n_elems_per_node,))
    host = array.get()
    inter_mpi_comm.Allreduce(mpi().IN_PLACE, host)
    array.set(host * numpy.float32(1 / size))


def chunked_bcast_obj(
    obj: Any, mpi_comm: Any, max_buf_len: int = 256 * 1024 * 1024, root: int = 0
) -> Any:
    """Sends an object to all ranks, in messages of at most ``max_buf_len`` bytes.

    Args:
        obj: Object to send. Ignored on other ranks than the root.
        mpi_comm (mpi4py.MPI.Comm): Communicator; the call is collective.
        max_buf_len (int): Most bytes of one message.
        root (int): Rank that sends.

    Returns:
        Object of the root.

    """
    return _messages.broadcast_object(mpi_comm, obj, root, max_buf_len)
