"""Division of a dataset between processes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy

from chainer import datasets

if TYPE_CHECKING:
    from chainer.datasets import SubDataset
    from chainer.types import Dataset
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class DataSizeError(RuntimeError):
    """Error of earlier versions about datasets that are too large. Nothing raises it now."""


def scatter_dataset(
    dataset: Dataset | None,
    comm: MpiCommunicatorBase,
    root: int = 0,
    shuffle: bool = False,
    seed: int | None = None,
    max_buf_len: int = 256 * 1024 * 1024,
    *,
    force_equal_length: bool = True,
) -> SubDataset:
    """Divides a dataset of one process between all; collective.

    The dataset is pickled and sent, so one that reads its examples from files is cheap.

    Args:
        dataset: Dataset. Ignored on other ranks than the root, which may pass ``None``.
        comm (CommunicatorBase): Communicator.
        root (int): Rank that has the dataset.
        shuffle (bool): Whether to permute the examples before they are divided.
        seed (int): Seed of the permutation. Ignored on other ranks than the root.
        max_buf_len (int): Most bytes of one message.
        force_equal_length (bool): Whether all parts have the same length; some examples are then
            in two parts. Pass ``False`` to evaluate each example once.

    Returns:
        ~chainer.datasets.SubDataset: Part of this process.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> part = chainermn.scatter_dataset([10, 20, 30], comm)
        >>> part[:]
        [10, 20, 30]

    """
    order = None
    if comm.rank == root:
        if dataset is None:
            raise ValueError(f'dataset must be given on the root, rank {root}')
        if shuffle:
            order = numpy.random.RandomState(seed).permutation(len(dataset))
    dataset, order = comm.bcast_obj((dataset, order), max_buf_len, root)
    assert dataset is not None
    begin, end = interval(len(dataset), comm, force_equal_length)
    return datasets.SubDataset(dataset, begin, end, order)


def scatter_index(
    n_total_samples: int | None,
    comm: MpiCommunicatorBase,
    root: int = 0,
    *,
    force_equal_length: bool = True,
) -> tuple[int, int]:
    """Divides the numbers below ``n_total_samples`` between all processes; collective.

    Args:
        n_total_samples (int): Number of examples. Ignored on other ranks than the root.
        comm (CommunicatorBase): Communicator.
        root (int): Rank that knows the number.
        force_equal_length (bool): Whether all intervals have the same length; they may overlap
            then.

    Returns:
        tuple of int: Begin and end (exclusive) of the interval of this process.

    .. admonition:: Example

        >>> chainermn.scatter_index(5, chainermn.create_communicator('naive'))
        (0, 5)

    """
    total = comm.bcast_obj(n_total_samples, root=root)
    return interval(total, comm, force_equal_length)


def interval(total: int, comm: MpiCommunicatorBase, equal: bool) -> tuple[int, int]:
    """Returns begin and end of the part of this process; all are equally long if ``equal``."""
    begin = total * comm.rank // comm.size
    if equal:
        return begin, begin - (-total // comm.size)
    return begin, total * (comm.rank + 1) // comm.size


def get_n_iterations_for_one_epoch(
    dataset: Dataset, local_batch_size: int, comm: MpiCommunicatorBase
) -> int:
    """Returns the largest number of batches of the processes; collective.

    .. deprecated:: v7.0
        Parts of equal length need no common number.

    Args:
        dataset: Part of this process.
        local_batch_size (int): Number of examples in its batches.
        comm (CommunicatorBase): Communicator.

    """
    warnings.warn(
        'get_n_iterations_for_one_epoch is deprecated: scatter_dataset gives parts of equal '
        'length.',
        DeprecationWarning,
        stacklevel=2,
    )
    return max(comm.allgather_obj(-(-len(dataset) // local_batch_size)))


def get_epoch_trigger(
    n_epochs: int, dataset: Dataset, local_batch_size: int, comm: MpiCommunicatorBase
) -> tuple[int, str]:
    """Returns the trigger after a number of epochs, counted in iterations; collective.

    .. deprecated:: v7.0
        Parts of equal length need no such trigger.

    Args:
        n_epochs (int): Number of epochs.
        dataset: Part of this process.
        local_batch_size (int): Number of examples in its batches.
        comm (CommunicatorBase): Communicator.

    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)
        n_iterations = get_n_iterations_for_one_epoch(dataset, local_batch_size, comm)
    warnings.warn(
        'get_epoch_trigger is deprecated: scatter_dataset gives parts of equal length.',
        DeprecationWarning,
        stacklevel=2,
    )
    return n_epochs * n_iterations, 'iteration'
