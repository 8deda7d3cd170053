"""Communicator without communication of gradients, to measure what the rest costs."""

from __future__ import annotations

from typing import Any

from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class DummyCommunicator(MpiCommunicatorBase):
    """Communicator that joins gradients but does not send them, to measure what the rest costs.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def _start_mean_of(self, bucket: Any) -> Any:
        bucket.pack()
        return self

    def test(self) -> bool:
        """Tells that nothing is on its way."""
        return True

    def wait(self) -> None:
        """Waits for nothing."""
