"""Recurrent networks whose layers run in different processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import link as link_module
from chainermn import functions

if TYPE_CHECKING:
    from chainer.link import Link
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def create_multi_node_n_step_rnn(
    actual_link: Link,
    communicator: MpiCommunicatorBase,
    rank_in: int | None = None,
    rank_out: int | None = None,
) -> Any:
    """Makes a recurrent network take its initial states from a rank and give its final ones to one.

    Args:
        actual_link (chainer.Link): Network such as :class:`chainer.links.NStepLSTM`.
        communicator (CommunicatorBase): Communicator.
        rank_in (int): Rank that sends the initial states; ``None``: zeros.
        rank_out (int): Rank that gets the final states; ``None``: none does.

    Returns:
        chainer.Link: Link that is called with the sequences, without states. It returns the
        outputs of ``actual_link``, and then the variable of :func:`chainermn.functions.send`, for
        which the program calls ``backward`` directly or by
        :func:`chainermn.functions.pseudo_connect`, or ``None`` without ``rank_out``.

    Raises:
        ValueError: If the link has no states, or a rank is that of this process.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> rnn = chainermn.links.create_multi_node_n_step_rnn(L.NStepLSTM(1, 2, 3, 0), comm)
        >>> hy, cy, ys, delegate = rnn([np.ones((4, 2), np.float32)])
        >>> hy.shape, ys[0].shape, delegate
        ((1, 1, 3), (4, 3), None)

    """
    if not hasattr(actual_link, 'n_cells'):
        raise ValueError(
            f'actual_link must be a link with n_cells, such as NStepLSTM, not '
            f'{type(actual_link).__name__}'
        )
    for name, rank in ('rank_in', rank_in), ('rank_out', rank_out):
        if rank == communicator.rank:
            raise ValueError(f'{name} must be another rank, but is {rank}, that of this process')
    return _MultiNodeNStepRNN(actual_link, communicator, rank_in, rank_out)


class _MultiNodeNStepRNN(link_module.Chain):
    """Recurrent network whose states come from and go to other ranks."""

    def __init__(
        self, actual_rnn: Any, communicator: Any, rank_in: int | None, rank_out: int | None
    ) -> None:
        super().__init__(actual_rnn=actual_rnn)
        self.communicator = communicator
        self.rank_in = rank_in
        self.rank_out = rank_out

    def forward(self, *inputs: Any) -> Any:
        n_cells = self.actual_rnn.n_cells
        cells: Any = (None,) * n_cells
        if self.rank_in is not None:
            # All states are in one message, so backward needs no order.
            cells = functions.recv(self.communicator, self.rank_in, force_tuple=True)
        outputs = self.actual_rnn(*cells, *inputs)
        delegate = None
        if self.rank_out is not None:
            delegate = functions.send(outputs[:n_cells], self.communicator, self.rank_out)
        return (*outputs, delegate)
