"""Communicators, which connect the processes of a distributed program."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer.utils import argument as argument
from chainermn import global_except_hook
from chainermn.communicators.communicator_base import CommunicatorBase as CommunicatorBase
from chainermn.communicators.dummy_communicator import DummyCommunicator
from chainermn.communicators.flat_communicator import FlatCommunicator
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase
from chainermn.communicators.naive_communicator import NaiveCommunicator
from chainermn.communicators.non_cuda_aware_communicator import NonCudaAwareCommunicator
from chainermn.communicators.pure_nccl_communicator import PureNcclCommunicator

if TYPE_CHECKING:
    from mpi4py import MPI

_CLASSES: dict[str, type[MpiCommunicatorBase]] = {
    'naive': NaiveCommunicator,
    'flat': FlatCommunicator,
    'non_cuda_aware': NonCudaAwareCommunicator,
    'pure_nccl': PureNcclCommunicator,
    'dummy': DummyCommunicator,
}
# Communicators of earlier versions, and their replacements.
_ALIASES = {
    'hierarchical': 'pure_nccl',
    'two_dimensional': 'pure_nccl',
    'single_node': 'pure_nccl',
}


def create_communicator(
    communicator_name: str = 'pure_nccl', mpi_comm: MPI.Comm | None = None, **kwargs: Any
) -> MpiCommunicatorBase:
    r"""Makes a communicator; collective.

    They differ in how they send gradients:

    ================== ==============================================================
    ``naive``          separately, over MPI and host memory
    ``flat``           joined, over MPI; those on GPUs need a CUDA-aware MPI library
    ``non_cuda_aware`` joined, over MPI and host memory
    ``pure_nccl``      joined, between GPUs by NCCL, each process with its own GPU;
                       gradients on the host go over MPI
    ``dummy``          not at all: for measurements
    ================== ==============================================================

    ``hierarchical``, ``two_dimensional`` and ``single_node``, of earlier versions, mean
    ``pure_nccl``, with a warning.

    If there is more than one process, an exception that nothing catches ends all of them: see
    :mod:`chainermn.global_except_hook`.

    Args:
        communicator_name (str): Name of the communicator.
        mpi_comm (mpi4py.MPI.Comm): Communicator of MPI; by default that of all processes.
        allreduce_grad_dtype: Dtype in which gradients are sent: ``float16``, ``'bfloat16'``,
            ``float32``, ``float64`` or ``int8``. By default that of the gradients. Means are
            computed in at least float32. ``int8`` is the integer nearest to
            :math:`127 u / \max |u|` of each 256 numbers :math:`u`, with their maximum. What is
            left out is added to the next gradients (error feedback), so the sum of all means
            differs from the exact one by the rounding of one step only. Blocks with a number that
            is not finite arrive as not-a-number. Processes that share memory compute the exact
            mean. See :doc:`/guides/chainermn` for what it takes and excludes.
        batched_copy (bool): Has no effect; deprecated.

    Returns:
        CommunicatorBase: Communicator.

    Raises:
        ValueError: If the name or the dtype is unknown, or for ``int8`` with ``pure_nccl``.
        TypeError: If there are further arguments.
        ImportError: If mpi4py or an MPI library is missing.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> comm.rank, comm.size
        (0, 1)
        >>> comm.allreduce(np.ones(2, np.float32))
        array([1., 1.], dtype=float32)
        >>> comm = chainermn.create_communicator('naive', allreduce_grad_dtype='int8')
        >>> comm.get_config('allreduce_grad_dtype')
        dtype('int8')

    See: Seide, Fu, Droppo, Li and Yu, 1-bit stochastic gradient descent and its application to
    data-parallel distributed training of speech DNNs, Interspeech 2014; Karimireddy, Rebjock, Stich
    and Jaggi, Error feedback fixes SignSGD and other gradient compression schemes, ICML 2019.

    """
    cls = _find_class(communicator_name)
    unset = object()
    dtype, batched_copy = argument.parse_kwargs(
        kwargs, ('allreduce_grad_dtype', None), ('batched_copy', unset)
    )
    comm = cls(mpi_comm)
    if dtype is not None:
        comm.set_config('allreduce_grad_dtype', dtype)
    if batched_copy is not unset:
        comm.set_config('batched_copy', batched_copy)
    if comm.size > 1 and global_except_hook.is_wanted():
        global_except_hook.add_hook()
    return comm


def _find_class(name: str) -> type[MpiCommunicatorBase]:
    if name in _ALIASES:
        warnings.warn(
            f'The communicator {name!r} is gone: {_ALIASES[name]!r} takes its place.',
            DeprecationWarning,
            stacklevel=3,
        )
        name = _ALIASES[name]
    if name not in _CLASSES:
        raise ValueError(
            f'Unrecognized communicator: {name!r}, expected one of {", ".join(_CLASSES)}'
        )
    return _CLASSES[name]
