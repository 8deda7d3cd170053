"""Snapshot writers: the main thread, other threads or processes write the files."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

from chainer._core.processes import start_method
from chainer.serializers import npz
from chainer.training import _processes
from chainer.training.extensions import _snapshot_writer
from chainer.training.extensions._snapshot_queues import (
    ProcessQueueWriter as ProcessQueueWriter,
    QueueWriter as QueueWriter,
    ThreadQueueWriter as ThreadQueueWriter,
)
from chainer.training.extensions._snapshot_writer import (
    SimpleWriter as SimpleWriter,
    Writer as Writer,
)

if TYPE_CHECKING:
    from collections.abc import Callable


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
        self._worker = self.create_worker(
            filename, outdir, _snapshot_writer.copy_arrays(target), **self._kwds
        )
        _snapshot_writer.start_worker(self._worker)

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
            _snapshot_writer.check_worker(worker)


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
        return _snapshot_writer.WorkerThread(
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
