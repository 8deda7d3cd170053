"""Communicator that sends joined gradients between GPUs by NCCL."""

from __future__ import annotations

from typing import Any

from chainermn import means
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class PureNcclCommunicator(MpiCommunicatorBase):
    """Communicator that sends joined gradients between GPUs by NCCL.

    Each process needs its own GPU, with CuPy or ChainerX. Gradients on the host, and all other
    calls, go over MPI, so a program without GPUs may also use it.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def make_reducer(self, channel: means.Channel) -> means.Reducer:
        self._nccl = means.Nccl(self.mpi_comm)
        return means.Reducer(channel, self._nccl)

    @property
    def nccl_comm(self) -> Any:
        """NCCL's communicator, made when the first gradients on GPUs come; ``None`` before."""
        return self._nccl.comm
