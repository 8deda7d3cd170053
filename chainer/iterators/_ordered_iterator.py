"""Base of the iterators that choose examples by an order.

An iterator walks over states. A state determines the next batch; advancing it returns
the indices of that batch and the next state. Iterators that prefetch advance a separate state
and keep, for each batch in preparation, the state to adopt when they return the batch.
Serialization discards these batches, when it saves too: the iterator then draws the orders of the
next epochs again, and so does one that loads what was saved, with the same random numbers.
"""

from __future__ import annotations

import collections
import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import serializer as serializer_module
from chainer._core.settings.types import Example
from chainer.dataset import iterator
from chainer.iterators import order_samplers

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.serializer import AbstractSerializer
    from chainer.types import Dataset

State = collections.namedtuple('State', 'current_position epoch is_new_epoch order')


# Says why `next()` stops without an error in the user's program.
EXHAUSTED = (
    'the iterator has returned each example once and stops, since it was made with repeat=False; '
    'reset() starts it again'
)


def _check_batch_size(batch_size: Any) -> None:
    if isinstance(batch_size, numbers.Integral) and int(batch_size) > 0:
        return
    message = f'batch_size must be a positive integer, but {batch_size!r} was given'
    if not isinstance(batch_size, numbers.Real):
        raise TypeError(message)
    if batch_size < 0:
        raise ValueError(message)
    # Chainer 7 makes such iterators. They return empty batches, or fail at the first batch.
    warnings.warn(message, stacklevel=5)


def _check_dataset(dataset: Any) -> None:
    if not hasattr(dataset, '__len__'):
        raise TypeError(
            'dataset must have a length and take indexes, as a list does, but a '
            f'{type(dataset).__name__} was given'
        )


def _choose_sampler(shuffle, order_sampler):
    if order_sampler is None:
        return order_samplers.ShuffleOrderSampler() if shuffle is None or shuffle else None
    if shuffle is not None:
        raise ValueError(
            '`shuffle` is not `None` and a custom `order_sampler` is set. Please set '
            '`shuffle` to `None` to use the custom order sampler.'
        )
    return order_sampler


class OrderedIterator(iterator.Iterator[Example]):
    """Base of Serial-, Multithread- and MultiprocessIterator."""

    # The name of the order in files, first the one that is written.
    _order_keys = ('order', '_order')
    # If several processes divide each batch: the number of this one, and how many there are.
    _share: tuple[int, int] | None = None

    def __init__(
        self,
        dataset: Dataset[Example],
        batch_size: int,
        repeat: bool,
        shuffle: bool | None,
        order_sampler: Callable[..., Any] | None,
    ) -> None:
        sampler = _choose_sampler(shuffle, order_sampler)
        _check_batch_size(batch_size)
        _check_dataset(dataset)
        self.dataset: Dataset[Example] = dataset
        self.batch_size = batch_size
        self.order_sampler: Callable[..., Any] | None = sampler
        self._repeat = repeat
        self._shuffle = shuffle
        self._reset_state()

    def _reset_state(self):
        order = None
        if self.order_sampler is not None:
            order = numpy.asarray(self.order_sampler(numpy.arange(len(self.dataset)), 0))
        self._state = State(0, 0, False, order)
        self._previous_epoch_detail = -1.0

    def _size_of(self, state):
        return len(self.dataset if state.order is None else state.order)

    # Names of Chainer 7 that iterators derived from these use.

    @property
    def _epoch_size(self):
        return self._size_of(self._state)

    @property
    def _order(self):
        return self._state.order

    @_order.setter
    def _order(self, order):
        self._discard_ahead()
        self._state = self._state._replace(order=None if order is None else numpy.asarray(order))

    def _next_order(self, state):
        if state.order is None or self.order_sampler is None:
            return state.order
        order = numpy.asarray(self.order_sampler(state.order, state.current_position))
        if len(order) != len(state.order):
            raise ValueError(
                'The size of order does not match the size of the previous order: '
                f'{len(order)} != {len(state.order)}'
            )
        return order

    def _advance(self, state):
        """Advances by one batch.

        Returns the state after the batch and the indices of the batch, ``None`` at the end.
        """
        if not self._repeat:
            return self._advance_once(state)
        position, epoch, _, order = state
        size = self._size_of(state)
        if size == 0:
            raise ValueError('the dataset is empty, so it cannot be repeated')
        end = position + self.batch_size
        parts = []
        is_new_epoch = False
        while end >= size:
            # The batch reaches the end of the epoch, maybe (if larger) of several.
            parts.append(_indices(order, position, size))
            order = self._next_order(State(position, epoch, False, order))
            epoch += 1
            is_new_epoch = True
            end -= size
            position = 0
        if end > position or not parts:
            parts.append(_indices(order, position, end))
        indices = parts[0] if len(parts) == 1 else numpy.concatenate(parts)
        return State(end, epoch, is_new_epoch, order), self._own(indices)

    def _advance_once(self, state):
        position, epoch, _, order = state
        if epoch > 0:
            return state, None
        size = self._size_of(state)
        end = min(position + self.batch_size, size)
        indices = self._own(_indices(order, position, end)) if size > 0 else None
        if end < size:
            return State(end, 0, False, order), indices
        return State(0, 1, True, self._next_order(state)), indices

    def _own(self, indices):
        """Returns what this process takes of a batch."""
        if self._share is None:
            return indices
        rank, n_ranks = self._share
        return indices[len(indices) * rank // n_ranks : len(indices) * (rank + 1) // n_ranks]

    def _take_over(self, state):
        """Makes a state visible to users when the iterator returns its batch."""
        self._previous_epoch_detail = self.epoch_detail
        self._state = state

    @property
    def current_position(self) -> int:
        """Number of examples returned in the current epoch."""
        return self._state.current_position

    @property
    def epoch(self) -> int:
        """Number of completed epochs."""
        return self._state.epoch

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch completed an epoch."""
        return self._state.is_new_epoch

    @property
    def epoch_detail(self) -> float:
        """Number of completed epochs including the fraction of the current one."""
        position, epoch, _, order = self._state
        size = len(self.dataset if order is None else order)
        return epoch + (position / size if size > 0 else 0.0)

    @property
    def previous_epoch_detail(self) -> float | None:
        """``epoch_detail`` before the last batch; ``None`` if there was none."""
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    @property
    def repeat(self) -> bool:
        """Whether the iterator repeats endlessly."""
        return self._repeat

    def _discard_ahead(self):
        """Discards batches in preparation."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the position and the order."""
        position, epoch, is_new_epoch, order = self._state
        position = serializer('current_position', position)
        epoch = serializer('epoch', epoch)
        is_new_epoch = serializer('is_new_epoch', is_new_epoch)
        if order is not None:
            order = self._serialize_order(serializer, order)
        state = State(position, epoch, is_new_epoch, order)
        try:
            previous = serializer('previous_epoch_detail', self._previous_epoch_detail)
        except KeyError:  # Chainer v2 or older
            previous = self._guess_previous(state)
        self._discard_ahead()
        if not isinstance(serializer, serializer_module.Serializer):
            self._state = state
            self._previous_epoch_detail = previous

    def _serialize_order(self, serializer, order):
        key, other_key = self._order_keys
        # Read into a copy: batches in preparation and a failing load need the old one.
        try:
            order = serializer(key, order.copy())
        except KeyError:  # written by another iterator or an old version
            order = serializer(other_key, order.copy())
        sampler = self.order_sampler
        if sampler is not None and hasattr(sampler, 'serialize'):
            sampler.serialize(serializer['order_sampler'])
        return order

    def _guess_previous(self, state):
        """Progress before the last batch, which must have been a full one."""
        size = self._size_of(state)
        if state.epoch + state.current_position / size > 0:
            return max(state.epoch + (state.current_position - self.batch_size) / size, 0.0)
        return -1.0


def _indices(order, start, end):
    return numpy.arange(start, end) if order is None else order[start:end]
