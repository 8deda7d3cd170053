"""Communicator without communication of gradients, to measure what the rest costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainermn import means
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainermn.means.transport import Steps


class DummyCommunicator(MpiCommunicatorBase):
    """Communicator that joins gradients but does not send them, to measure what the rest costs.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI.

    """

    def make_reducer(self, channel: means.Channel) -> means.Reducer:
        return _Silent(channel, _Nowhere())


class _Silent(means.Reducer):
    """Reducer that sends nothing, not even by shared memory."""

    def transport_of(self, bucket: means.Bucket) -> means.Transport:
        return self._on_gpu


class _Nowhere(means.Transport):
    """Transport that only joins gradients."""

    def steps(self, buckets: Sequence[means.Bucket]) -> Steps:
        for bucket in buckets:
            bucket.pack()
        yield None
        for bucket in buckets:
            bucket.unpack()
