"""Communicator that sends each gradient separately."""

from __future__ import annotations

from chainermn import means
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class NaiveCommunicator(MpiCommunicatorBase):
    """Communicator that sends each gradient separately, over MPI and host memory.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def make_reducer(self, channel: means.Channel) -> means.Reducer:
        return means.Reducer(channel, means.OverHost(channel), bucket_bytes=0)
