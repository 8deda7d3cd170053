"""Iterators that shuffle in the same order in all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import iterators
from chainer.iterators._ordered_iterator import OrderedIterator

if TYPE_CHECKING:
    from chainer._core.settings.types import Example
    from chainer.dataset.iterator import Iterator
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def create_synchronized_iterator(
    actual_iterator: Iterator[Example], communicator: MpiCommunicatorBase, *, divide: bool = False
) -> Iterator[Example]:
    """Makes an iterator shuffle in the same order in all processes; collective.

    Processes that have the same dataset then see the same examples. With ``divide``, each of them
    returns its part of each batch: process :math:`r` of :math:`n` returns the examples from
    :math:`\\lfloor br/n \\rfloor` up to :math:`\\lfloor b(r+1)/n \\rfloor` of a batch of :math:`b`.
    So the order of the examples does not depend on the number of processes, and checkpoints of
    :func:`~chainermn.create_multi_node_checkpointer` go on with another number in the middle of an
    epoch. Choose a batch size that the numbers divide: the mean of gradients counts each process
    once, whatever the size of its part.

    Args:
        actual_iterator: Iterator that shuffles, such as
            :class:`~chainer.iterators.SerialIterator`. It is reset.
        communicator (CommunicatorBase): Communicator.
        divide (bool): Whether each process returns its part of each batch. ``batch_size`` of the
            iterator then counts the examples of all processes.

    Returns:
        ~chainer.dataset.Iterator: ``actual_iterator``.

    Raises:
        ValueError: If the iterator has an order sampler of another kind, or ``divide`` is given for
            one whose batches are smaller than the number of processes.
        TypeError: If ``divide`` is given for an iterator that is none of Chainer's.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> iterator = chainer.iterators.SerialIterator([1, 2, 3], 3)
        >>> sorted(chainermn.iterators.create_synchronized_iterator(iterator, comm).next())
        [1, 2, 3]

    """
    iterator: Any = actual_iterator
    if divide:
        _check_divisible(iterator, communicator.size)
    # The global generator, which programs seed, makes runs reproducible.
    seed = communicator.bcast_obj(numpy.random.randint(2**31 - 1))
    sampler = getattr(iterator, 'order_sampler', None)
    # An iterator without a sampler does not shuffle.
    if sampler is not None or not hasattr(iterator, 'order_sampler'):
        _synchronize(iterator, sampler, seed)
    iterator._is_synchronized = True
    if divide:
        iterator._share = communicator.rank, communicator.size
    return actual_iterator


def _check_divisible(iterator: Any, size: int) -> None:
    if not isinstance(iterator, OrderedIterator):
        raise TypeError(
            'divide=True needs a SerialIterator, MultithreadIterator or MultiprocessIterator, not '
            f'{type(iterator).__name__}'
        )
    if iterator.batch_size < size:
        raise ValueError(
            f'divide=True needs at least one example of each batch for each of {size} processes, '
            f'but batch_size is {iterator.batch_size}'
        )


def _synchronize(iterator: Any, sampler: Any, seed: int) -> None:
    if not isinstance(sampler, iterators.ShuffleOrderSampler):
        raise ValueError(
            'actual_iterator must shuffle by a ShuffleOrderSampler, but has '
            f'{type(sampler).__name__}'
        )
    iterator.order_sampler = iterators.ShuffleOrderSampler(numpy.random.RandomState(seed))
    iterator.reset()
