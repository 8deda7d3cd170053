"""Communicator that sends joined gradients over the memory of the host."""

from __future__ import annotations

from typing import Any

import chainerx
from chainer.backends import cuda
from chainermn.communicators import mpi_communicator_base
from chainermn.communicators._memory_utility import HostPinnedMemory


class NonCudaAwareCommunicator(mpi_communicator_base.MpiCommunicatorBase):
    """Communicator that sends joined gradients over the memory of the host.

    Any MPI library does, and several processes may share a GPU.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def __init__(self, mpi_comm: Any) -> None:
        super().__init__(mpi_comm)
        self._pinned: dict[int, HostPinnedMemory] = {}

    def finalize(self) -> None:
        super().finalize()
        self._pinned.clear()

    def _start_mean_on_gpu(self, flat: Any, wire: str | None) -> Any:
        if isinstance(flat, chainerx.ndarray):  # its backend has pinned memory of its own
            return super()._start_mean_on_gpu(flat, wire)
        # Each bucket keeps its memory, and its pinned memory with it.
        memory = self._pinned.setdefault(flat.data.ptr, HostPinnedMemory())
        memory.assign(flat.nbytes)
        host = memory.array(flat.size, dtype=flat.dtype)
        flat.get(out=host)
        cuda.Stream.null.synchronize()
        return mpi_communicator_base.MeanOverHost(self._start_mean(host, wire), host, flat)
