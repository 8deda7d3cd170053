"""Snapshot writers: the main thread, other threads or processes write the files."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing.util
import os
import queue
import threading
import warnings
from multiprocessing import reduction
from typing import TYPE_CHECKING, Any

from chainer._core.processes import start_method
from chainer._core.reports import representation
from chainer.serializers import npz
from chainer.training import _files, _processes

if TYPE_CHECKING:
    from collections.abc import Callable


class Writer:
    """Base of snapshot writers.

    A snapshot writer takes the state of an object, a dictionary of arrays, and writes it to a
    file.

    Subclasses must call ``__init__``.

    .. admonition:: Example

        >>> from chainer import testing
        >>> from chainer.training.extensions import snapshot_writers
        >>> class Names(snapshot_writers.Writer):
        ...     def __call__(self, filename, outdir, target):
        ...         print(filename, sorted(target))
        >>> trainer = testing.get_trainer_with_mock_updater()
        >>> extension = chainer.training.extensions.snapshot(writer=Names(), target=L.Linear(3, 2))
        >>> extension(trainer)
        snapshot_iter_0 ['W', 'b']

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    def __init__(self) -> None:
        self._post_save_hooks: list[Callable[[], object]] = []

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Writes a snapshot or schedules it.

        Args:
            filename (str): Name of the file.
            outdir (str): Folder of the file.
            target (dict): Serialized object.

        """
        raise NotImplementedError

    def finalize(self) -> None:
        """Waits until everything is written.

        Raises:
            RuntimeError: If writing has failed.

        """

    def save(
        self, filename: str, outdir: str, target: Any, savefun: Callable[..., Any], **kwds: Any
    ) -> None:
        """Writes a file, which gets its name when it is complete and on disk.

        Args:
            filename (str): Name of the file.
            outdir (str): Folder of the file.
            target (dict): Serialized object.
            savefun: Function of a path and the target that writes the file.
            kwds: Further arguments of ``savefun``.

        """
        with _files.atomic_file(os.path.join(outdir, filename)) as path:
            savefun(path, target, **kwds)
        self._post_save()

    def _add_cleanup_hook(self, hook):
        """Adds a function to call after each written file."""
        self._post_save_hooks.append(hook)

    def _post_save(self):
        for hook in self._post_save_hooks:
            hook()


class SimpleWriter(Writer):
    """Writer that writes immediately in the main thread.

    Args:
        savefun: Function of a path and the serialized object that writes the file.
        kwds: Further arguments of ``savefun``.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from chainer.training.extensions import snapshot_writers
        >>> writer = snapshot_writers.SimpleWriter(savefun=np.savez)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer('snapshot.npz', folder, {'x': np.zeros(2)})
        ...     os.listdir(folder)
        ['snapshot.npz']

    """

    def __init__(self, savefun: Callable[..., Any] = npz.save_npz, **kwds: Any) -> None:
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        self.save(filename, outdir, target, self._savefun, **self._kwds)


class StandardWriter(Writer):
    """Base of the writers that start a thread or process for each snapshot.

    A new snapshot waits for the previous one. The next call or :meth:`finalize` raises a
    failure.

    Args:
        savefun: Function of a path and the serialized object that writes the file.
        kwds: Further arguments of ``savefun``.

    .. admonition:: Example

        >>> import threading
        >>> from chainer.training.extensions import snapshot_writers
        >>> class PrintingWriter(snapshot_writers.StandardWriter):
        ...     def create_worker(self, filename, outdir, target, **kwds):
        ...         return threading.Thread(target=print, args=(filename,))
        >>> writer = PrintingWriter()
        >>> writer('snapshot_iter_1', 'result', {})
        snapshot_iter_1
        >>> writer.finalize()

    """

    def __init__(self, savefun: Callable[..., Any] = npz.save_npz, **kwds: Any) -> None:
        super().__init__()
        self._savefun = savefun
        self._kwds = kwds
        self._worker = None

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        self.finalize()
        self._worker = self.create_worker(filename, outdir, _copy(target), **self._kwds)
        _start(self._worker)

    def create_worker(self, filename: str, outdir: str, target: Any, **kwds: Any) -> Any:
        """Makes the thread or process that writes a snapshot.

        It must have the methods ``start`` and ``join``.

        Args:
            filename (str): Name of the file.
            outdir (str): Folder of the file.
            target (dict): Serialized object.
            kwds: Further arguments of ``savefun``.

        """
        raise NotImplementedError

    def finalize(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.join()
            _check(worker)


class _Thread(threading.Thread):
    """Thread that keeps the exception of its function."""

    error = None

    def run(self) -> None:
        try:
            super().run()
        except Exception as e:
            self.error = e


def _start(worker):
    with warnings.catch_warnings():
        # The forked process only writes a file and takes none of our locks.
        warnings.filterwarnings('ignore', '.*fork', DeprecationWarning)
        worker.start()


def _check(worker):
    error = getattr(worker, 'error', None)
    if isinstance(error, Exception):
        raise RuntimeError(f'writing a snapshot failed: {error}') from error
    exitcode = getattr(worker, 'exitcode', 0)
    if isinstance(exitcode, int) and exitcode != 0:
        raise RuntimeError(f'the process that writes snapshots failed, exit code {exitcode}')


def _copy(target):
    """Copies the arrays, because training changes them during the writing."""
    if not isinstance(target, dict):
        return target
    copy = type(target)()
    copy.update((key, array.copy()) for key, array in target.items())
    return copy


class ThreadWriter(StandardWriter):
    """Writer that writes each snapshot in a new thread.

    Args:
        savefun: Function of a path and the serialized object that writes the file.
        kwds: Further arguments of ``savefun``.

    .. admonition:: Example

        >>> from chainer.training.extensions import snapshot_writers
        >>> writer = snapshot_writers.ThreadWriter()
        >>> extension = chainer.training.extensions.snapshot(writer=writer)
        >>> extension.writer is writer
        True

    """

    def __init__(self, savefun: Callable[..., Any] = npz.save_npz, **kwds: Any) -> None:
        super().__init__(savefun=savefun, **kwds)

    def create_worker(
        self, filename: str, outdir: str, target: Any, **kwds: Any
    ) -> threading.Thread:
        return _Thread(
            target=self.save, args=(filename, outdir, target, self._savefun), kwargs=kwds
        )


class ProcessWriter(StandardWriter):
    """Writer that writes each snapshot in a new process.

    Do not use it with the start method *fork* after using a GPU or MPI.

    Args:
        savefun: Function of a path and the serialized object that writes the file.
        kwds: Further arguments of ``savefun``.

    .. admonition:: Example

        >>> from chainer.training.extensions import snapshot_writers
        >>> writer = snapshot_writers.ProcessWriter()
        >>> extension = chainer.training.extensions.snapshot(writer=writer)
        >>> extension.writer is writer
        True

    """

    def __init__(self, savefun: Callable[..., Any] = npz.save_npz, **kwds: Any) -> None:
        super().__init__(savefun=savefun, **kwds)

    def create_worker(self, filename: str, outdir: str, target: Any, **kwds: Any) -> Any:
        save = functools.partial(self.save, filename, outdir, target, self._savefun, **kwds)
        return _processes.Process(target=save)

    def __getstate__(self) -> Any:
        # For the start method spawn.
        state = self.__dict__.copy()
        state.update(_worker=None, _post_save_hooks=[])
        return state

    def finalize(self) -> None:
        had_worker = self._worker is not None
        super().finalize()
        if had_worker and start_method.context().get_start_method() != 'fork':
            self._post_save()


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
        _start(self._consumer)
        self._finalized = False
        # The exit of the program ends threads and processes, whatever is still to be written.
        # The priority is above that of what closes a queue.
        multiprocessing.util.Finalize(self, _finish, (self._queue, self._consumer), exitpriority=20)

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        if self._finalized:
            self._start_consumer()  # an interrupted training goes on
        if not self._consumer.is_alive():
            _check(self._consumer)
        self._queue.put((self._task, filename, outdir, _copy(target)))

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
        _check(self._consumer)
        self._queue.join()


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
        return _Thread(target=self.consume, args=(q,), daemon=True)


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
