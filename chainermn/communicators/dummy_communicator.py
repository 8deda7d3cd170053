"""Communicator without communication of gradients, to measure what the rest costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.communicators import _gradients, _shared_rows


class DummyCommunicator(MpiCommunicatorBase):
    """Communicator that joins gradients but does not send them, to measure what the rest costs.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def _start_means_of(
        self, buckets: Sequence[_gradients.Bucket], slots: _shared_rows.Slots | None = None
    ) -> list[Any]:
        for bucket in buckets:
            bucket.pack()
        return []
