"""Snapshot writers with a queue, which one thread or process writes."""

from __future__ import annotations

import contextlib
import multiprocessing.util
import queue
import threading
from multiprocessing import reduction
from typing import TYPE_CHECKING, Any

from chainer._core.names.set_module import set_module
from chainer._core.processes import start_method
from chainer.serializers import npz
from chainer.training import _processes
from chainer.training.extensions import _snapshot_writer
from chainer.training.extensions._snapshot_writer import (
    SimpleWriter,
    Writer,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@set_module('chainer.training.extensions.snapshot_writers')
class QueueWriter(Writer):
    """Base of the writers that write all snapshots in one thread or process.

    The next call or :meth:`finalize` raises a failure.

    Args:
        savefun: Function of a path and the serialized object that writes the file.
        task: Callable with the arguments of :meth:`Writer.__call__` that writes a snapshot;
            :meth:`create_task` makes it by default.

    .. admonition:: Example

        >>> import queue, threading
        >>> from chainer.training.extensions import snapshot_writers
        >>> class PrintingWriter(snapshot_writers.QueueWriter):
        ...     def create_task(self, savefun):
        ...         return lambda filename, outdir, target: print(filename)
        ...     def create_queue(self):
        ...         return queue.Queue()
        ...     def create_consumer(self, q):
        ...         return threading.Thread(target=self.consume, args=(q,))
        >>> writer = PrintingWriter()
        >>> writer('snapshot_iter_1', 'result', {})
        >>> writer.finalize()
        snapshot_iter_1

    """

    def __init__(
        self, savefun: Callable[..., Any] = npz.save_npz, task: Callable[..., Any] | None = None
    ) -> None:
        super().__init__()
        self._task = self.create_task(savefun) if task is None else task
        self._start_consumer()

    def _start_consumer(self):
        self._queue = self.create_queue()
        self._consumer = self.create_consumer(self._queue)
        _snapshot_writer.start_worker(self._consumer)
        self._finalized = False
        # The exit of the program ends threads and processes, whatever is still to be written.
        # The priority is above that of what closes a queue.
        multiprocessing.util.Finalize(self, _finish, (self._queue, self._consumer), exitpriority=20)

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        if self._finalized:
            self._start_consumer()  # an interrupted training goes on
        if not self._consumer.is_alive():
            _snapshot_writer.check_worker(self._consumer)
        self._queue.put((self._task, filename, outdir, _snapshot_writer.copy_arrays(target)))

    def create_task(self, savefun: Callable[..., Any]) -> Callable[..., Any]:
        """Makes the callable that writes a snapshot.

        Args:
            savefun: Function of a path and the serialized object that writes the file.

        Returns:
            callable: Function of the arguments of ``__call__``.

        """
        return SimpleWriter(savefun=savefun)

    def create_queue(self) -> Any:
        """Makes the queue."""
        raise NotImplementedError

    def create_consumer(self, q: Any) -> Any:
        """Makes the thread or process that runs :meth:`consume`.

        Args:
            q: Queue.

        """
        raise NotImplementedError

    def consume(self, q: Any) -> None:
        """Writes the snapshots of a queue until it gets ``None``.

        Args:
            q: Queue.

        """
        _consume(q, self._post_save)

    def finalize(self) -> None:
        if self._finalized:
            return
        self._finalized = True
        _finish(self._queue, self._consumer)
        _snapshot_writer.check_worker(self._consumer)
        self._queue.join()


@set_module('chainer.training.extensions.snapshot_writers')
class ThreadQueueWriter(QueueWriter):
    """Writer that writes all snapshots in one thread.

    Args:
        savefun: Function of a path and the serialized object that writes the file.
        task: Callable that writes a snapshot, see :class:`QueueWriter`.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from chainer.training.extensions import snapshot_writers
        >>> writer = snapshot_writers.ThreadQueueWriter(savefun=np.savez)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in 'first.npz', 'second.npz':
        ...         writer(name, folder, {'x': np.zeros(2)})
        ...     writer.finalize()
        ...     sorted(os.listdir(folder))
        ['first.npz', 'second.npz']

    """

    def __init__(
        self, savefun: Callable[..., Any] = npz.save_npz, task: Callable[..., Any] | None = None
    ) -> None:
        super().__init__(savefun=savefun, task=task)

    def create_queue(self) -> Any:
        return queue.Queue()

    def create_consumer(self, q: Any) -> Any:
        return _snapshot_writer.WorkerThread(target=self.consume, args=(q,), daemon=True)


@set_module('chainer.training.extensions.snapshot_writers')
class ProcessQueueWriter(QueueWriter):
    """Writer that writes all snapshots in one process.

    If the program is killed, the process completes the snapshot that it is writing, and ends.

    Args:
        savefun: Function of a path and the serialized object that writes the file. It must be
            picklable.
        task: Callable that writes a snapshot, see :class:`QueueWriter`. It must be picklable.

    .. admonition:: Example

        >>> from chainer.training.extensions import snapshot_writers
        >>> writer = snapshot_writers.ProcessQueueWriter()  # doctest: +SKIP
        >>> extension = chainer.training.extensions.snapshot(writer=writer)  # doctest: +SKIP

    """

    def __init__(
        self, savefun: Callable[..., Any] = npz.save_npz, task: Callable[..., Any] | None = None
    ) -> None:
        super().__init__(savefun=savefun, task=task)

    def create_queue(self) -> Any:
        q = start_method.context().JoinableQueue()
        # finalize() waits until everything is written. The exit of the program must not wait
        # for a queue that nobody reads any more because the process was killed.
        q.cancel_join_thread()
        return q

    def create_consumer(self, q: Any) -> Any:
        # The queue pickles in a thread, which would drop a task that cannot be pickled.
        reduction.ForkingPickler.dumps(self._task)
        return _processes.Process(target=_consume_in_child, args=(q,), daemon=True)

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        super().__call__(filename, outdir, target)
        # The other process does not know the hooks, which came after its start.
        self._post_save()

    def finalize(self) -> None:
        was_finalized = self._finalized
        super().finalize()
        if not was_finalized:
            self._post_save()


def _consume(q, post_save=None, busy=None):
    while True:
        item = q.get()
        with busy or contextlib.nullcontext():
            if item is not None:
                item[0](*item[1:])
                if post_save is not None:
                    post_save()
            q.task_done()
        if item is None:
            return


def _consume_in_child(q):
    busy = threading.Lock()
    _processes.follow_parent(busy)
    _consume(q, busy=busy)


def _finish(q, consumer):
    """Waits until a thread or process has written everything."""
    if consumer.is_alive():
        q.put(None)
    consumer.join()
