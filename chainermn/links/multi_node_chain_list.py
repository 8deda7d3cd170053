"""Models whose links run in different processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link as link_module
from chainermn import _checks, functions
from chainermn.functions._base import make_dummy
from chainermn.links import _pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        self._comm: Any = comm
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

    def run_1f1b(
        self, n_micro_batches: int, lossfun: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        r"""Adds the gradients of a batch that passes the stages as micro-batches; collective.

        The links of each rank are a *stage*. Stage :math:`s` of :math:`S`, from 0, runs forward for
        :math:`S - s` micro-batches at most, then backward for the first one, and from then on one
        forward and one backward in turn (1F1B). So it keeps the graphs of :math:`S - s`
        micro-batches and not of the batch, and while a stage computes one, the others compute
        others: of the time of a step, all stages are busy but for about
        :math:`(S - 1) / (n + S - 1)` with :math:`n` micro-batches.

        The gradients are those of :math:`\sum_i \frac{b_i}{b} L_i` with the losses :math:`L_i` of
        micro-batches of :math:`b_i` of the :math:`b` examples. If the loss is a mean over examples,
        that is the loss of the whole batch. Batch normalization has the statistics of each
        micro-batch. Reported values are means over the micro-batches.

        Args:
            n_micro_batches (int): Number of micro-batches, equal on all ranks.
            lossfun (callable): Function that calls this chain once, such as the chain itself, and
                returns the loss, or on other stages than the last one the result of the chain.
            args, kwargs: Arguments of the function for the whole batch: arrays, variables and
                lists, which are divided along their first axis. A rank may have none.

        Returns:
            0-d array: Loss on the rank of the last stage; a zero on others.

        Raises:
            ValueError: On all ranks, if they have different numbers of micro-batches or examples,
                if there are fewer examples than micro-batches, or if the links are no linear chain:
                each stage gets its input from the stage before or from the caller, and sends its
                output to the next one or returns it.
            TypeError: If an argument cannot be divided.

        .. admonition:: Example

            A model of one stage; :class:`MultiNodeChainList` shows one of two:

            >>> comm = chainermn.create_communicator('naive')
            >>> chain = chainermn.MultiNodeChainList(comm)
            >>> chain.add_link(L.Linear(64, 10))
            >>> model = L.Classifier(chain)
            >>> optimizer = chainer.optimizers.SGD().setup(model)
            >>> x, t = chainer.dataset.concat_examples(chainer.datasets.get_digits()[0][:100])
            >>> model.cleargrads()
            >>> loss = chain.run_1f1b(4, model, x, t)
            >>> optimizer.update()

        See: Narayanan et al., PipeDream: generalized pipeline parallelism for DNN training,
        SOSP 2019.

        """
        comm = self._comm
        outbox = self._comm = _pipeline.Outbox(comm)
        try:
            loss = _pipeline.run(comm, self._ranks, n_micro_batches, lossfun, args, kwargs)
        finally:
            self._comm = comm
        outbox.finish()
        return loss


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
