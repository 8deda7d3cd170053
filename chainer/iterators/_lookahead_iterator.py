"""Iterators that read batches before they are asked for."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from chainer._core.processes import forks
from chainer._core.settings.types import Example
from chainer.iterators._ordered_iterator import EXHAUSTED, OrderedIterator

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import Dataset

_Ahead = collections.namedtuple('_Ahead', 'state job')


class LookaheadIterator(OrderedIterator[Example]):
    """Base of the iterators that prepare the next batches in the background.

    Only ``next`` requests batches, so that the use of random numbers does not depend on timing.
    The pool of processes or threads belongs to the process that made it. The iterator of a forked
    process goes on after the batch that was returned last, with a pool of its own.
    """

    def __init__(
        self,
        dataset: Dataset[Example],
        batch_size: int,
        repeat: bool,
        shuffle: bool | None,
        order_sampler: Callable[..., Any] | None,
        n_ahead: int,
    ) -> None:
        self._pool: Any = None  # what _make_pool returns
        self._n_ahead = n_ahead
        self._ahead: collections.deque[_Ahead] = collections.deque()
        # Here rather than on first use, which may be in a thread: a process forked while another
        # thread imports a module waits forever if it imports that module.
        self._load_pool_module()
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler)

    def _load_pool_module(self):
        """Imports and returns what ``_make_pool`` needs; importing Chainer does not pay for it."""
        raise NotImplementedError

    def _make_pool(self):
        """Returns what fetches the examples."""
        raise NotImplementedError

    def _get_pool(self):
        if self._pool is None:
            self._pool = self._make_pool()
            forks.register(self)
        return self._pool

    def _after_fork(self) -> None:
        """Leaves the pool to the parent, in a forked process."""
        self._pool = None
        self._ahead = type(self._ahead)()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        # The copy has a pool of its own and fetches the batches ahead again.
        state.update(_pool=None, _ahead=type(self._ahead)())
        return state

    def _submit(self, state, indices):
        """Starts fetching the batch after ``state``; returns a job."""
        raise NotImplementedError

    def _collect(self, job):
        """Waits for a job and returns the batch."""
        raise NotImplementedError

    def _cancel(self, job):
        """Cancels a job."""

    def _fill(self):
        while len(self._ahead) < self._n_ahead:
            last = self._ahead[-1] if self._ahead else None
            if last is not None and last.job is None:
                return  # the end is reached
            state = self._state if last is None else last.state
            new_state, indices = self._advance(state)
            job = None if indices is None else self._submit(state, indices)
            self._ahead.append(_Ahead(new_state, job))

    def __next__(self) -> list[Example]:
        self._fill()
        state, job = self._ahead[0]
        if job is None:
            self._take_over(state)
            raise StopIteration(EXHAUSTED)
        try:
            batch = self._collect(job)
        except BaseException:
            # The batch can be tried again.
            self._discard_ahead()
            raise
        self._ahead.popleft()
        self._take_over(state)
        self._fill()
        return batch

    def _discard_ahead(self):
        for ahead in self._ahead:
            if ahead.job is not None:
                self._cancel(ahead.job)
        self._ahead.clear()

    # The name of Chainer 7 for giving up what was prepared.
    def _set_prefetch_state(self):
        self._discard_ahead()

    def _reset_state(self):
        self._discard_ahead()
        super()._reset_state()
