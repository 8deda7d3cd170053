"""NCCL by CuPy."""

from __future__ import annotations

from typing import Any

from chainer.backends import cuda
from chainermn import _messages


def nccl_of_cupy() -> Any:
    """Returns CuPy's module for NCCL, which only its own import makes; ``None`` without NCCL."""
    if not cuda.available:
        return None
    from cupy.cuda import nccl

    return nccl if nccl.available else None


def init_nccl_comm(mpi_comm: Any) -> Any:
    """Returns NCCL's communicator of the processes, for the current GPU of each; collective.

    Raises:
        RuntimeError: If there is no NCCL.

    """
    nccl = nccl_of_cupy()
    if nccl is None:
        raise RuntimeError(
            'gradients on GPUs need NCCL for the communicator pure_nccl, and CuPy has none here: '
            "use the communicator 'non_cuda_aware'"
        )
    unique_id = nccl.get_unique_id() if mpi_comm.rank == 0 else None
    unique_id = _messages.broadcast_object(mpi_comm, unique_id, 0)
    return nccl.NcclCommunicator(mpi_comm.size, unique_id, mpi_comm.rank)
