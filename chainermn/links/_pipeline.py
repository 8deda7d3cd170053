"""The 1F1B schedule: which stage of a chain computes which micro-batch when.

A stage runs forward for as many micro-batches as there are stages from itself to the last one, and
from then on alternately one backward and one forward, so it never keeps more graphs. The last stage
starts with its first backward at once.

See: Narayanan et al., PipeDream: generalized pipeline parallelism for DNN training, SOSP 2019; with
an update after all micro-batches of a batch, as in Narayanan et al., Memory-efficient
pipeline-parallel DNN training, ICML 2021.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from chainer.training.updaters._observations import Observations
from chainer.variable import Variable
from chainermn import _arrays
from chainermn.means import Pending
from chainermn.means.buckets import bounds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: For each link of a rank, the ranks that it gets inputs from and sends outputs to.
    Links = Sequence[tuple[list[int] | None, list[int] | None]]


def run(
    comm: Any, links: Links, n: Any, lossfun: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """Runs the schedule on this rank; collective.

    Args:
        comm: Communicator.
        links: Links of this rank.
        n: Number of micro-batches.
        lossfun: Function of a micro-batch.
        args, kwargs: Arguments of the function for the whole batch.

    Returns:
        Array with the mean of the losses.

    """
    lengths = {*map(_length_of, args), *map(_length_of, kwargs.values())}
    n_graphs, size = _agree(comm, links, n, sorted(lengths))
    bounds = bounds_of(size, n)
    observations = Observations()
    live: collections.deque[Any] = collections.deque()
    total: Any = None
    for start, end in zip(bounds, bounds[1:]):
        if len(live) == n_graphs:
            live.popleft().backward()
        weight = (end - start) / size
        part = slice(start, end)
        with observations.collect(weight):
            loss = lossfun(*[x[part] for x in args], **{k: x[part] for k, x in kwargs.items()})
            live.append(loss * weight)
            del loss
        if total is None:
            total = live[-1].array.copy()
        else:
            total += live[-1].array
    while live:
        live.popleft().backward()
    observations.report()
    return total


def _length_of(x: Any) -> int:
    if not (isinstance(x, (list, Variable)) or _arrays.is_array(x)) or not getattr(x, 'shape', 1):
        raise TypeError(
            'run_1f1b divides arrays, variables and lists with an example in each element, not '
            f'{type(x).__name__}{" without axes" if hasattr(x, "shape") else ""}; bind other '
            'arguments to the function'
        )
    return len(x)


def _agree(comm: Any, links: Links, n: Any, lengths: Sequence[int]) -> tuple[int, int]:
    """Compares the arguments of the ranks; collective.

    Returns:
        Most graphs that this rank keeps, and the number of examples; the number of micro-batches
        if no rank has examples.

    """
    numbers, sizes, all_links = zip(*comm.allgather_obj((n, lengths, links)))
    if len({*numbers}) > 1:
        raise ValueError(f'n_micro_batches must be equal on all ranks, but is {[*numbers]}')
    size = {length for of_rank in sizes for length in of_rank} or {n}
    if len(size) > 1:
        raise ValueError(f'the ranks have arguments of different lengths: {[*sizes]}')
    if not isinstance(n, int) or not 1 <= n <= min(size):
        raise ValueError(
            f'n_micro_batches must be from 1 to the {min(size)} examples of the batch, not {n!r}'
        )
    return _stages_left(comm.rank, all_links), size.pop()


def _stages_left(rank: int, all_links: Sequence[Links]) -> int:
    """Returns how many stages there are from that of a rank to the last one.

    Raises:
        ValueError: If some rank has no stage of a linear chain.

    """
    ends = [_ends(i, links) for i, links in enumerate(all_links)]
    for i, (source, dest) in enumerate(ends):
        if (source is not None and ends[source][1] != i) or (
            dest is not None and ends[dest][0] != i
        ):
            raise _not_linear(f'rank {i} gets from {source} and sends to {dest}, which do not')
    return [_count_to_last(i, ends) for i in range(len(ends))][rank]


def _ends(rank: int, links: Links) -> tuple[int | None, int | None]:
    """Returns the ranks before and after a stage."""
    if not links:
        raise ValueError(f'MultiNodeChainList has no link on rank {rank}')
    first, *inside, last = [side for link in links for side in link]
    if any([side != [rank] for side in inside]):
        raise _not_linear(f'the links of rank {rank} do not follow each other')
    for side in first, last:
        if side is not None and (len(side) != 1 or side == [rank]):
            raise _not_linear(f'rank {rank} gets from, or sends to, ranks {side}')
    return None if first is None else first[0], None if last is None else last[0]


def _count_to_last(rank: int, ends: Sequence[tuple[int | None, int | None]]) -> int:
    n, dest = 1, ends[rank][1]
    while dest is not None:
        if n == len(ends):
            raise _not_linear(f'rank {rank} is in a circle')
        n, dest = n + 1, ends[dest][1]
    return n


def _not_linear(what: str) -> ValueError:
    return ValueError(
        f'run_1f1b needs a linear chain, one stage after the other, without branches and ways '
        f'back: {what}'
    )


class Outbox:
    """Communicator of a schedule, whose ``send`` waits for nobody.

    Of two neighbours, one may send an output while the other sends a gradient; with calls that
    wait for their receivers, both would wait for ever.

    Args:
        comm: Communicator.

    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.rank: int = comm.rank
        self.size: int = comm.size
        self.recv = comm.recv
        self._pending: list[Pending] = []

    def send(self, data: Any, dest: int, tag: int) -> None:
        """Starts to send, see :meth:`CommunicatorBase.send`."""
        for pending in self._pending:  # lets go of what has arrived
            pending.test()
        self._pending.append(Pending(iter([self._comm.start_send(data, dest, tag)])))

    def finish(self) -> None:
        """Waits until all is sent; collective."""
        with self._comm.calls.watching('run_1f1b'):
            for pending in self._pending:
                pending.wait()
