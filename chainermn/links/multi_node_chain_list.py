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
        comm = self._comm
        result = None
        # This variable makes each message depend on the previous one, so that backward sends them
        # in reverse order. In any other order, ranks might deadlock.
        delegate: Any = None
        own: list[Any] = []  # what links of this process send to each other
        for link, (ranks_in, ranks_out) in zip(self, self._ranks):
            if ranks_in is None:
                xs = inputs
            else:
                received = []
                for rank in ranks_in:
                    if rank == comm.rank:
                        received.append(own.pop(0))
                        continue
                    x = functions.recv(comm, rank, delegate_variable=delegate)
                    received.append(x)
                    first = x[0] if isinstance(x, tuple) else x
                    (delegate,) = functions.pseudo_connect(first, make_dummy(first.device))
                xs = tuple(received)
            y = link(*xs)
            if ranks_out is None:
                result = y
                continue
            for rank in ranks_out:
                if rank == comm.rank:
                    own.append(y)
                    continue
                y = _connect(delegate, y)
                delegate = functions.send(y, comm, rank)
        if result is None:
            return delegate
        return _connect(delegate, result)

    forward = __call__


def _connect(delegate: Any, y: Any) -> Any:
    """Makes a variable, or each one of a tuple, depend on the previous message."""
    connected = functions.pseudo_connect(delegate, y)
    return connected if isinstance(y, (tuple, list)) else connected[0]
