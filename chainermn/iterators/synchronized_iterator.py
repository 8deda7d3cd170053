"""Iterators that shuffle in the same order in all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import iterators

if TYPE_CHECKING:
    from chainer.dataset.iterator import Iterator
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def create_synchronized_iterator(
    actual_iterator: Any, communicator: MpiCommunicatorBase
) -> Iterator:
    """Makes an iterator shuffle in the same order in all processes; collective.

    Processes that have the same dataset then see the same examples.

    Args:
        actual_iterator: Iterator that shuffles, such as
            :class:`~chainer.iterators.SerialIterator`. It is reset.
        communicator (CommunicatorBase): Communicator.

    Returns:
        ~chainer.dataset.Iterator: ``actual_iterator``.

    Raises:
        ValueError: If the iterator has an order sampler of another kind.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> iterator = chainer.iterators.SerialIterator([1, 2, 3], 3)
        >>> sorted(chainermn.iterators.create_synchronized_iterator(iterator, comm).next())
        [1, 2, 3]

    """
    # The global generator, which programs seed, makes runs reproducible.
    seed = communicator.bcast_obj(numpy.random.randint(2**31 - 1))
    sampler = getattr(actual_iterator, 'order_sampler', None)
    if sampler is None and hasattr(actual_iterator, 'order_sampler'):
        return actual_iterator  # it does not shuffle
    if not isinstance(sampler, iterators.ShuffleOrderSampler):
        raise ValueError(
            'actual_iterator must shuffle by a ShuffleOrderSampler, but has '
            f'{type(sampler).__name__}'
        )
    random_state = numpy.random.RandomState(seed)
    actual_iterator.order_sampler = iterators.ShuffleOrderSampler(random_state)
    actual_iterator.reset()
    return actual_iterator
