"""What transports have in common: a channel for messages, and steps with messages between them."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from chainermn._messages import PIECE
from chainermn._mpi import mpi
from chainermn._tcp.engine import RankLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpi4py import MPI

    from chainermn._checks import Checker
    from chainermn.means.buckets import Bucket

    #: What a transport yields before its next step: requests that must complete first, or ``None``
    #: if only :meth:`Pending.wait` may take this step.
    Steps = Iterator[Sequence[Any] | None]

# MPI guarantees tags up to 32767. Each mean has two of its own, so that many can be pending.
_LAST_TAG = 32766
_SIGNAL = numpy.zeros(1, numpy.uint8)


class Channel:
    """Messages of an MPI communicator that only means use.

    Args:
        mpi_comm (mpi4py.MPI.Comm): Communicator without other messages.
        checker: Compares calls between ranks in debug mode.
        is_one_host (bool): Whether there are several ranks, all on one host.
        hosts: Ranks of each host, if there are several hosts, each with as many ranks as the
            others, and with several. The call is collective then.

    Attributes:
        others: All other ranks.
        hosts: The ranks of each host, or ``None``.
        within: A channel between the ranks of this host, if there are ``hosts``.
        between: A channel between the ranks in this one's place on all hosts, likewise.

    """

    def __init__(
        self,
        mpi_comm: MPI.Comm,
        checker: Checker,
        is_one_host: bool,
        hosts: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.mpi_comm = mpi_comm
        self.checker = checker
        self.is_one_host = is_one_host
        self.rank: int = mpi_comm.rank
        self.size: int = mpi_comm.size
        self.others: list[int] = [i for i in range(self.size) if i != self.rank]
        self._tag = 0
        self.hosts: Sequence[Sequence[int]] | None = hosts
        self.within: Channel | None = None
        self.between: Channel | None = None
        if hosts is not None:
            i, host = next((i, host) for i, host in enumerate(hosts) if self.rank in host)
            place = host.index(self.rank)
            self.within = Channel(mpi_comm.Split(i, place), checker, True)
            self.between = Channel(mpi_comm.Split(place, i), checker, False)

    def free(self) -> None:
        """Frees the communicators that the channel has made; collective."""
        for channel in self.within, self.between:
            if channel is not None:
                channel.mpi_comm.Free()

    def next_tag(self) -> int:
        """Returns the first of two tags that no other pending mean uses; the same on all ranks."""
        self._tag = (self._tag + 2) % _LAST_TAG
        return self._tag

    def exchange(self, tag: int, outgoing: dict[int, Any], incoming: dict[int, Any]) -> list[Any]:
        """Starts to send and receive flat arrays, by rank.

        Args:
            tag: Tag of the messages.
            outgoing: Array to send to each rank.
            incoming: Array to fill from each rank.

        Returns:
            list: Requests of MPI.

        """
        requests = []
        # Receives first, so that messages find their buffers when they come.
        for call, arrays in (self.mpi_comm.Irecv, incoming), (self.mpi_comm.Isend, outgoing):
            for i, array in arrays.items():
                data = array.view(numpy.uint8)
                for start in range(0, data.size, PIECE):
                    requests.append(call(data[start : start + PIECE], i, tag))
        return requests

    def signal(self, tag: int, dests: Iterable[int], sources: Iterable[int]) -> list[Any]:
        """Starts to tell ranks that memory may be used, and to hear it from others.

        Nobody may use the memory before the message comes, whose contents do not matter.

        Args:
            tag: Tag of the messages.
            dests: Ranks to send to.
            sources: Ranks to receive from.

        Returns:
            list: Requests of MPI.

        """
        incoming = {i: numpy.empty(1, numpy.uint8) for i in sources}
        return self.exchange(tag, dict.fromkeys(dests, _SIGNAL), incoming)


class Transport(abc.ABC):
    """A way by which gradients travel between the ranks."""

    @abc.abstractmethod
    def steps(self, buckets: Sequence[Bucket]) -> Steps:
        """Replaces the gradients of buckets by their means; collective.

        Args:
            buckets: Buckets that travel together, the same ones on all ranks.

        Yields:
            Requests of MPI that must complete before the next step, or ``None`` if only
            :meth:`Pending.wait` may take it.

        """

    def check_dtype(self, dtype: str | None) -> None:  # noqa: B027
        """Raises an error if gradients cannot be sent in a dtype.

        Args:
            dtype: Name of the dtype; ``None`` for that of the gradients.

        Raises:
            ValueError: If they cannot.

        """

    def forget(self) -> None:  # noqa: B027
        """Drops memory that is kept for later means."""

    def close(self) -> None:  # noqa: B027
        """Frees what the transport holds; collective."""


class Pending:
    """Means that are being computed.

    Args:
        steps: Steps of a transport. The first one is taken at once.

    """

    # Requests of abandoned means. MPI still writes to their buffers, which the requests keep alive.
    _dropped: ClassVar[list[Any]] = []

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._requests: Sequence[Any] | None = None
        if self._dropped:
            self._dropped[:] = [request for request in self._dropped if not _is_over(request)]
        self._requests = next(steps, None)
        self.test()

    def __del__(self) -> None:
        if self._requests is not None:
            self._dropped.extend(self._requests)

    def test(self) -> None:
        """Takes the steps that are possible without waiting, so that backward goes on."""
        while self._requests is not None and mpi().Request.Testall(self._requests):
            self._requests = next(self._steps, None)

    def wait(self) -> None:
        """Waits for the means, and takes the last step, which writes them to the gradients."""
        if self._requests is not None:
            mpi().Request.Waitall(self._requests)
        for requests in self._steps:
            self._requests = requests
            if requests is not None:
                mpi().Request.Waitall(requests)
        self._requests = None


def _is_over(request: Any) -> bool:
    """Tells whether nothing writes to the buffer of a request any more."""
    try:
        return bool(request.Test())
    except RankLostError:  # its connections have ended
        return True
