"""Differentiable messages from one rank to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainermn import _checks
from chainermn.functions._base import Communication, device_of, dummy_output, make_dummy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class Message(Communication):
    """Base of functions that send to one rank or receive from one."""

    def __init__(self, comm: MpiCommunicatorBase, peer_rank: int, peer_tag: int) -> None:
        super().__init__(comm)
        self.peer_rank = peer_rank
        self.peer_tag = peer_tag

    @property
    def label(self) -> str:
        return f'{type(self).__name__}({self.peer_rank})'


class Send(Message):
    """Function of :func:`~chainermn.functions.send`."""

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        self.comm.send(self._given(inputs), self.peer_rank, self.peer_tag)
        return (dummy_output(inputs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gxs = m.apply(Recv(self.comm, self.peer_rank, self.peer_tag), gys)
        return [gxs[i] for i in targets]


class Recv(Message):
    """Function of :func:`~chainermn.functions.recv`."""

    def __call__(self, *inputs: VariableLike) -> Any:
        self.received = self.comm.recv(self.peer_rank, self.peer_tag)
        device = device_of(self.received[0])
        outputs = self.apply(inputs or (make_dummy(device),))
        return outputs[0] if len(outputs) == 1 else outputs

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        ys = self.received or self.comm.recv(self.peer_rank, self.peer_tag)
        self.received = None
        self._input_specs = [(x.shape, x.dtype) for x in inputs]
        return self._outputs([self._to_inputs(y, inputs) for y in ys])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        gys = self._filled(gys)
        (sent,) = m.apply(Send(self.comm, self.peer_rank, self.peer_tag), gys)
        # The output does not depend on the input, but backward must go on to its creator.
        return [
            m.broadcast_to(m.cast(sent * 0, dtype), shape)
            for shape, dtype in [self._input_specs[i] for i in targets]
        ]


def send(
    x: VariableLike | Sequence[VariableLike],
    communicator: MpiCommunicatorBase,
    rank: int,
    tag: int = 0,
) -> Variable:
    """Sends an array to a rank, which must call :func:`~chainermn.functions.recv`.

    Backward receives the gradient from that rank.

    Args:
        x (:class:`~chainer.Variable`, array, or a tuple of them): What to send.
        communicator (CommunicatorBase): Communicator.
        rank (int): Rank that receives it.
        tag (int): Tag of the message, which the receiver passes as well.

    Returns:
        ~chainer.Variable: Scalar, for which the program calls ``backward``, directly or by
        :func:`~chainermn.functions.pseudo_connect`.

    Raises:
        ValueError: If the rank is that of this process, or there is no array.

    .. admonition:: Example

        On rank 0, with a communicator ``comm``:

        >>> def loss_of_rank_0(x):
        ...     return chainermn.functions.send(model(x), comm, rank=1)

        and on rank 1:

        >>> def loss_of_rank_1(t):
        ...     return F.softmax_cross_entropy(chainermn.functions.recv(comm, rank=0), t)

    """
    _check_rank(communicator, rank, 'send')
    inputs = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    if not inputs:
        raise ValueError('send: x must not be empty')
    return Send(communicator, rank, tag).apply(inputs)[0]


def recv(
    communicator: MpiCommunicatorBase,
    rank: int,
    delegate_variable: Variable | None = None,
    tag: int = 0,
    force_tuple: bool = False,
) -> Any:
    """Receives an array from a rank, which must call :func:`~chainermn.functions.send`.

    Backward sends the gradient to that rank.

    Args:
        communicator (CommunicatorBase): Communicator.
        rank (int): Rank that sends.
        delegate_variable (~chainer.Variable): What :func:`~chainermn.functions.send` has returned
            before, so that backward passes both.
        tag (int): Tag of the message, which the sender passes as well.
        force_tuple (bool): Whether to return a single array as a tuple.

    Returns:
        ~chainer.Variable or tuple of them: What was sent.

    Raises:
        ValueError: If the rank is that of this process.

    .. seealso:: :func:`~chainermn.functions.send` for an example.

    """
    _check_rank(communicator, rank, 'recv')
    inputs = () if delegate_variable is None else (delegate_variable,)
    ys = Recv(communicator, rank, tag)(*inputs)
    return (ys,) if force_tuple and not isinstance(ys, tuple) else ys


def _check_rank(communicator: Any, rank: int, call: str) -> None:
    if rank == communicator.rank:
        raise ValueError(f'{call}: rank must be that of another process, but is {rank}, this one')
    _checks.check_rank(communicator.size, call, 'rank', rank)
