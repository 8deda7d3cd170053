from __future__ import annotations

import multiprocessing
import warnings
import zlib
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names import hints
from chainer._core.settings.types import Example
from chainer.iterators import _lookahead_iterator

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.serializer import AbstractSerializer
    from chainer.types import Dataset


@hints.explain_arguments
class MultiprocessIterator(_lookahead_iterator.LookaheadIterator[Example]):
    """Iterator that prefetches batches in worker processes.

    It returns the same batches as :class:`~chainer.iterators.SerialIterator`. The first call of
    ``next`` starts the processes with the start method that the program chose with
    :func:`multiprocessing.set_start_method`, otherwise on Linux by a fork. Start methods other than
    *fork* require a picklable dataset. Arrays come back through shared memory.

    With Python 3.14 the first other use of :mod:`multiprocessing` chooses *forkserver* if the
    program has chosen nothing. ``multiprocessing.set_start_method('fork')`` at its start keeps a
    program going that needs a fork.

    ``next`` raises exceptions of the dataset, and ``RuntimeError`` if a process dies; calling
    ``next`` again then retries the same batch.

    The processes seed ``numpy.random``, ``random`` and ChainerX's generator for each part of a
    batch from the state of ``numpy.random`` at the first use of the iterator, or the first after it
    was serialized. Other generators that the dataset holds draw the same in each process.

    A fork copies the locks that other threads hold at this moment, and no thread that would
    release the copies. Chainer's own datasets and arrays take care of this; other libraries may
    not, as OpenBLAS on several threads. If other threads of the program compute while the
    processes start, the start methods *forkserver* and *spawn* are safe. A forked process that uses
    an iterator of its parent goes on after the batch that the parent got last.

    Args:
        dataset: Indexable object with a length.
        batch_size (int): Number of examples in a batch.
        repeat (bool): If true, the iterator repeats endlessly; otherwise it stops after one
            epoch.
        shuffle (bool): If true, each epoch has a new random order. The default is
            true, unless ``order_sampler`` is given.
        n_processes (int): Number of processes, by default the number of CPU cores.
        n_prefetch (int): Number of batches to prefetch.
        shared_mem (int): Bytes of shared memory per example; adapts to the data by default.
            Larger data goes through pipes.
        order_sampler (callable): Function that decides the order of each epoch, see
            :class:`~chainer.iterators.OrderSampler`. Requires ``shuffle=None``.
        dataset_timeout (float): Issues a :class:`MultiprocessIterator.TimeoutWarning` each
            time a batch takes this many seconds; ``None`` for never.
        maxtasksperchild (int): Number of tasks (parts of batches) before a new process replaces
            a process, to free its memory; ``None`` for never.

    Raises:
        ValueError: If both ``shuffle`` and ``order_sampler`` are given.

    .. admonition:: Example

        >>> iterator = chainer.iterators.MultiprocessIterator(
        ...     [1, 2, 3], 2, repeat=False, shuffle=False, n_processes=1)
        >>> with iterator:  # ends the processes
        ...     list(iterator)
        [[1, 2], [3]]

    """

    class TimeoutWarning(RuntimeWarning):
        """Warning that reading a batch takes very long."""

    def __init__(
        self,
        dataset: Dataset[Example],
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_processes: int | None = None,
        n_prefetch: int = 1,
        shared_mem: int | None = None,
        order_sampler: Callable[..., Any] | None = None,
        dataset_timeout: float = 30.0,
        maxtasksperchild: int | None = None,
    ) -> None:
        self._worker_seed: int | None = None
        self.n_processes: int = n_processes or multiprocessing.cpu_count()
        self.shared_mem = shared_mem
        self.dataset_timeout = dataset_timeout
        self.shuffle = shuffle
        self.n_prefetch: int = max(n_prefetch, 1)
        self._maxtasksperchild = maxtasksperchild
        # One batch more: while the others wait to be returned, the processes read it.
        n_ahead = self.n_prefetch + 1
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler, n_ahead)
        self._finalized = False

    @property
    def repeat(self) -> bool:
        """Whether the iterator repeats endlessly."""
        return self._repeat

    @repeat.setter
    def repeat(self, repeat: bool) -> None:
        self._repeat = repeat

    def _load_pool_module(self):
        from chainer.iterators import _worker_pool

        return _worker_pool

    def _make_pool(self):
        return self._load_pool_module().WorkerPool(
            self.dataset, self.n_processes, self.shared_mem, self._maxtasksperchild
        )

    def _submit(self, state, indices):
        if self._worker_seed is None:
            # Made without drawing a number, which would change the order of the examples.
            self._worker_seed = zlib.crc32(numpy.random.get_state()[1].tobytes())
        seed = zlib.crc32(b'%d,%d' % (state.epoch, state.current_position), self._worker_seed)
        return self._get_pool().submit(indices, seed)

    def _collect(self, job):
        try:
            return self._pool.wait(job, self.dataset_timeout, self._warn_timeout)
        finally:
            if self._pool.broken:
                self._pool.close()
                self._pool = None

    def _cancel(self, job):
        if self._pool is not None:
            self._pool.cancel(job)

    def _warn_timeout(self):
        warnings.warn(
            f'Stalled dataset is detected: a batch took more than {self.dataset_timeout} '
            'seconds. Common causes '
            'are a slow or blocking dataset, locks or threads it held when the processes were '
            'started, and a stopped process. dataset_timeout sets the time.',
            MultiprocessIterator.TimeoutWarning,
            stacklevel=5,
        )

    def __next__(self) -> list[Example]:
        if self._finalized:
            raise RuntimeError('the iterator is finalized')
        return super().__next__()

    next = __next__

    def reset(self) -> None:
        """Returns to the start with a new order.

        Raises:
            NotImplementedError: If the iterator is finalized.

        """
        if self._finalized:
            raise NotImplementedError(
                'Reset of finalized MultiProcessIterator is currently not supported.'
            )
        self._reset_state()

    def finalize(self) -> None:
        """Ends the processes; always returns within a few seconds."""
        if getattr(self, '_finalized', True):
            return
        self._finalized = True
        self._discard_ahead()
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        self._worker_seed = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> MultiprocessIterator:
        other = self.__class__.__new__(self.__class__)
        other.__setstate__(self.__getstate__())
        return other
