"""Batch normalization by the statistics of the batches of all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.function_node import FunctionNode
    from chainer.types import NdArray
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

_BACKENDS = 'auto', 'mpi', 'nccl'


def get_communication_backend(
    comm: MpiCommunicatorBase, communication_backend: str = 'auto'
) -> str:
    """Chooses how the statistics of a batch are sent.

    Args:
        comm (CommunicatorBase): Communicator.
        communication_backend (str): ``'mpi'``, ``'nccl'``, which needs the communicator
            ``pure_nccl``, or ``'auto'`` for ``'nccl'`` where that is possible. Statistics are few
            numbers: both ways go over MPI now.

    Returns:
        str: ``'mpi'`` or ``'nccl'``.

    Raises:
        ValueError: If the name is unknown or does not fit the communicator.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> chainermn.functions.batch_normalization.get_communication_backend(comm)
        'mpi'

    """
    if communication_backend not in _BACKENDS:
        raise ValueError(
            f'communication_backend must be one of {", ".join(_BACKENDS)}, not '
            f'{communication_backend!r}'
        )
    has_nccl = type(comm).__name__ == 'PureNcclCommunicator'
    if communication_backend == 'nccl' and not has_nccl:
        raise ValueError("communication_backend='nccl' needs the communicator 'pure_nccl'")
    return 'nccl' if communication_backend != 'mpi' and has_nccl else 'mpi'


class _MultiNodeImpl:
    """Statistics over the batches of all processes, which have equal sizes."""

    def __init__(self, comm: MpiCommunicatorBase) -> None:
        self._comm = comm
        self.workers = comm.size

    def total(self, partial: NdArray) -> NdArray:
        """Sum of an array over the processes."""
        return self._comm.allreduce(partial)


class MultiNodeBNImplSelector:
    """Makes a batch normalization use statistics over the batches of all processes.

    Args:
        comm (CommunicatorBase): Communicator.
        communication_backend_name (str): See :func:`get_communication_backend`.

    """

    def __init__(self, comm: MpiCommunicatorBase, communication_backend_name: str) -> None:
        get_communication_backend(comm, communication_backend_name)
        self._impl = _MultiNodeImpl(comm)

    def __call__(self, batch_norm_func: FunctionNode, inputs: tuple[NdArray, ...]) -> Any:
        """Returns the source of the statistics."""
        return self._impl
