from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import serializer as serializer_module
from chainer._core.names import hints
from chainer._core.settings.types import Example
from chainer.iterators import _lookahead_iterator

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.serializer import AbstractSerializer
    from chainer.types import Dataset


@hints.explain_arguments
class MultithreadIterator(_lookahead_iterator.LookaheadIterator[Example]):
    """Iterator that prefetches the next batch in threads.

    It returns the same batches as :class:`~chainer.iterators.SerialIterator`. Threads help if
    the dataset waits for files or computes in functions that release Python's lock.

    Args:
        dataset: Indexable, thread-safe object with a length.
        batch_size (int): Number of examples in a batch.
        repeat (bool): If true, the iterator repeats endlessly; otherwise it stops after one
            epoch.
        shuffle (bool): If true, each epoch has a new random order. The default is
            true, unless ``order_sampler`` is given.
        n_threads (int): Number of threads.
        order_sampler (callable): Function that decides the order of each epoch, see
            :class:`~chainer.iterators.OrderSampler`. Requires ``shuffle=None``.

    Raises:
        ValueError: If both ``shuffle`` and ``order_sampler`` are given.

    .. admonition:: Example

        >>> iterator = chainer.iterators.MultithreadIterator(
        ...     [1, 2, 3], 2, repeat=False, shuffle=False, n_threads=2)
        >>> with iterator:
        ...     list(iterator)
        [[1, 2], [3]]

    """

    _order_keys = ('_order', 'order')

    def __init__(
        self,
        dataset: Dataset[Example],
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_threads: int = 1,
        order_sampler: Callable[..., Any] | None = None,
    ) -> None:
        self.n_threads = n_threads
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler, n_ahead=1)

    def _load_pool_module(self):
        from concurrent.futures import thread

        return thread

    def _make_pool(self):
        return self._load_pool_module().ThreadPoolExecutor(self.n_threads, 'chainer-iterator')

    def _submit(self, state, indices):
        pool = self._get_pool()
        # A few parts for each thread: examples may take different times, handing over takes
        # some, too.
        size = -(-len(indices) // (4 * self.n_threads))
        return [
            pool.submit(_read, self.dataset, indices[i : i + size].tolist())
            for i in range(0, len(indices), size)
        ]

    def _collect(self, job):
        return [example for future in job for example in future.result()]

    def _cancel(self, job):
        for future in job:
            future.cancel()

    def __next__(self) -> list[Example]:
        return super().__next__()

    next = __next__

    def reset(self) -> None:
        """Returns to the start with a new order."""
        self._reset_state()

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        if self._order is None and isinstance(serializer, serializer_module.Serializer):
            serializer('_order', None)  # Chainer 7 reads it

    def finalize(self) -> None:
        """Stops the threads without waiting for examples in progress."""
        pool = getattr(self, '_pool', None)
        if pool is not None:
            self._discard_ahead()
            self._pool = None
            pool.shutdown(wait=False, cancel_futures=True)


def _read(dataset, indices):
    return [dataset[i] for i in indices]
