"""Communicator that gives joined gradients to MPI where they are."""

from __future__ import annotations

from chainermn import means
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class FlatCommunicator(MpiCommunicatorBase):
    """Communicator that gives joined gradients to MPI where they are.

    Gradients on GPUs need an MPI library that reads the memory of GPUs ("CUDA-aware"); those that
    are sent as 16 or 8 bits, or are ChainerX's where CuPy is absent, go over the host.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def make_reducer(self, channel: means.Channel) -> means.Reducer:
        return means.Reducer(channel, means.CudaAware(channel))
