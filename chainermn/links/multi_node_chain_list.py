"""Models whose links run in different processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link as link_module
from chainermn import _checks, functions
from chainermn.functions._base import make_dummy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.link import Link
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class MultiNodeChainList(link_module.ChainList):
    """Chain of links that are divided between processes.

    A call runs the links of this process in the order in which they were added. Each gets its input
    from the caller or from other ranks, and returns its output to the caller or sends it to other
    ranks. If all outputs go to other ranks, the call returns a scalar; call its ``backward`` also.

    Args:
        comm (CommunicatorBase): Communicator.

    .. admonition:: Example

        A model of two processes; both call it, and ``backward`` of what they get:

        >>> class Model0(chainermn.MultiNodeChainList):  # on rank 0
        ...     def __init__(self, comm):
        ...         super().__init__(comm)
        ...         self.add_link(L.Linear(64, 100), rank_in=None, rank_out=1)
        >>> class Model1(chainermn.MultiNodeChainList):  # on rank 1
        ...     def __init__(self, comm):
        ...         super().__init__(comm)
        ...         self.add_link(L.Linear(100, 10), rank_in=0, rank_out=None)

    """

    def __init__(self, comm: MpiCommunicatorBase) -> None:
        super().__init__()
        self._comm = comm
        self._ranks: list[tuple[list[int] | None, list[int] | None]] = []

    def add_link(
        self,
        link: Link,
        rank_in: int | Sequence[int] | None = None,
        rank_out: int | Sequence[int] | None = None,
    ) -> None:
        """Adds a link.

        Args:
            link (chainer.Link): Link of this process.
            rank_in (int or list of ints): Ranks that send its inputs, which it gets in this order.
                This process may be among them. ``None`` stands for the arguments of the call.
            rank_out (int or list of ints): Ranks that get its output. ``None`` stands for the
                caller.

        """
        super().add_link(link)
        self._ranks.append((self._ranks_of(rank_in), self._ranks_of(rank_out)))

    def _ranks_of(self, ranks: Any) -> list[int] | None:
        if ranks is None:
            return None
        ranks = [ranks] if isinstance(ranks, int) else list(ranks)
        for rank in ranks:
            _checks.check_rank(self._comm.size, 'add_link', 'rank_in and rank_out', rank)
        return ranks

    def __call__(self, *inputs: Any) -> Any:
        """Runs the links of this process.

        Args:
            inputs: Arguments of the links without ``rank_in``.

        Returns:
            Output of the last link without ``rank_out``, or a scalar if there is none.

        Raises:
            ValueError: If there is no link.

        """
        if len(self) == 0:
            raise ValueError('MultiNodeChainList has no link')
        result = None
        mail = _Mail(self._comm)
        for link, (ranks_in, ranks_out) in zip(self, self._ranks):
            y = link(*(inputs if ranks_in is None else [mail.receive(rank) for rank in ranks_in]))
            if ranks_out is None:
                result = y
                continue
            for rank in ranks_out:
                y = mail.send(y, rank)
        if result is None:
            return mail.delegate
        return _connect(mail.delegate, result)

    forward = __call__


class _Mail:
    """Variables on their way between links, of this process or others.

    Args:
        comm: Communicator.

    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        # This variable makes each message depend on the previous one, so that backward sends them
        # in reverse order. In any other order, ranks might deadlock.
        self.delegate: Any = None
        self._own: list[Any] = []  # what links of this process send to each other

    def receive(self, rank: int) -> Any:
        """Returns what a rank sends."""
        if rank == self._comm.rank:
            return self._own.pop(0)
        x = functions.recv(self._comm, rank, delegate_variable=self.delegate)
        first = x[0] if isinstance(x, tuple) else x
        (self.delegate,) = functions.pseudo_connect(first, make_dummy(first.device))
        return x

    def send(self, y: Any, rank: int) -> Any:
        """Sends a variable; returns the one for further ranks, which depends on this message."""
        if rank == self._comm.rank:
            self._own.append(y)
            return y
        y = _connect(self.delegate, y)
        self.delegate = functions.send(y, self._comm, rank)
        return y


def _connect(delegate: Any, y: Any) -> Any:
    """Makes a variable, or each one of a tuple, depend on the previous message."""
    connected = functions.pseudo_connect(delegate, y)
    return connected if isinstance(y, (tuple, list)) else connected[0]
