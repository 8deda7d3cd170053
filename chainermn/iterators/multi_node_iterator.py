"""An iterator that broadcasts the batches of one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.dataset import iterator

if TYPE_CHECKING:
    from chainer.dataset.iterator import Iterator
    from chainer.serializer import AbstractSerializer
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

# Attributes that updaters and triggers read.
_STATE = 'current_position', 'epoch', 'is_new_epoch', 'epoch_detail', 'previous_epoch_detail'
_NONE = -1.0  # previous_epoch_detail in files if it is None, as for all iterators


def create_multi_node_iterator(
    actual_iterator: Iterator | None, communicator: MpiCommunicatorBase, rank_master: int = 0
) -> Iterator:
    """Makes an iterator whose batches come from one process; collective.

    Processes that compute parts of one model then see the same examples. ``next`` and ``reset``
    are collective, too.

    Args:
        actual_iterator: Iterator of the master. Ignored on other ranks, which may pass ``None``.
        communicator (CommunicatorBase): Communicator.
        rank_master (int): Rank whose iterator is used.

    Returns:
        ~chainer.dataset.Iterator: Iterator.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> iterator = chainer.iterators.SerialIterator([1, 2, 3], 2, shuffle=False)
        >>> chainermn.iterators.create_multi_node_iterator(iterator, comm).next()
        [1, 2]

    """
    return _MultiNodeIterator(actual_iterator, communicator, rank_master)


class _MultiNodeIterator(iterator.Iterator):
    """Iterator that broadcasts the batches and the state of the master's iterator."""

    _is_synchronized = True  # it is at the same place on all ranks
    current_position: int
    epoch: int
    is_new_epoch: bool
    epoch_detail: float
    previous_epoch_detail: float | None
    _epoch_size: int | None

    def __init__(
        self, actual_iterator: Any, communicator: MpiCommunicatorBase, rank_master: int
    ) -> None:
        is_master = communicator.rank == rank_master
        self.actual_iterator = actual_iterator if is_master else None
        if is_master and actual_iterator is None:
            raise ValueError(f'actual_iterator must be given on the master, rank {rank_master}')
        self.communicator = communicator
        self.rank_master = rank_master
        self._share(None)

    def _share(self, batch: Any) -> Any:
        state = None
        if self.actual_iterator is not None:
            actual = self.actual_iterator
            values = {name: getattr(actual, name, None) for name in (*_STATE, 'batch_size')}
            values['repeat'] = getattr(actual, '_repeat', getattr(actual, 'repeat', None))
            values['_epoch_size'] = _epoch_size(actual)
            state = batch, values
        batch, values = self.communicator.bcast_obj(state, root=self.rank_master)
        vars(self).update(values)
        return batch

    def __next__(self) -> Any:
        batch = None
        if self.actual_iterator is not None:
            batch = next(self.actual_iterator, None)
        batch = self._share(batch)
        if batch is None:
            raise StopIteration
        return batch

    next = __next__

    def reset(self) -> None:
        """Resets the iterator; collective."""
        if self.actual_iterator is not None:
            self.actual_iterator.reset()
        self._share(None)

    def finalize(self) -> None:
        if self.actual_iterator is not None:
            self.actual_iterator.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the position.

        The master also saves the order. The others use the same names, so they can load its file.
        """
        if self.actual_iterator is not None:
            self.actual_iterator.serialize(serializer)
            vars(self).update({name: getattr(self.actual_iterator, name, None) for name in _STATE})
            return
        position = serializer('current_position', self.current_position)
        epoch = serializer('epoch', self.epoch)
        is_new_epoch = serializer('is_new_epoch', self.is_new_epoch)
        previous = self.previous_epoch_detail
        try:
            previous = serializer(
                'previous_epoch_detail', _NONE if previous is None else float(previous)
            )
        except KeyError:  # the iterator of the master does not write it
            previous = _NONE
        self.current_position, self.epoch, self.is_new_epoch = position, epoch, is_new_epoch
        self.previous_epoch_detail = None if previous < 0 else previous
        self.epoch_detail = epoch + (position / self._epoch_size if self._epoch_size else 0.0)


def _epoch_size(iterator: Any) -> int | None:
    """Number of examples of an epoch, if the iterator tells it."""
    try:
        return iterator._epoch_size
    except AttributeError:
        pass
    try:
        return len(iterator.dataset)
    except (AttributeError, TypeError):
        return None
