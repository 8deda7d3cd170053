"""Communicator that sends joined gradients over the memory of the host."""

from __future__ import annotations

from chainermn import means
from chainermn.communicators import mpi_communicator_base


class NonCudaAwareCommunicator(mpi_communicator_base.MpiCommunicatorBase):
    """Communicator that sends joined gradients over the memory of the host.

    It works with any MPI library, and several processes may share a GPU.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def make_reducer(self, channel: means.Channel) -> means.Reducer:
        return means.Reducer(channel, means.OverPinnedHost(channel))
