"""Snapshot writer in the main thread, and what writers in threads and processes share."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any

from chainer._core.names.set_module import set_module
from chainer._core.reports import representation
from chainer.serializers import npz
from chainer.training import _files

if TYPE_CHECKING:
    from collections.abc import Callable


@set_module('chainer.training.extensions.snapshot_writers')
class Writer:
    """Base of snapshot writers.

    A snapshot writer takes the state of an object, a dictionary of arrays, and writes it to a
    file.

    Subclasses must call ``__init__``.

    .. admonition:: Example

        >>> from chainer.training.extensions import snapshot, snapshot_writers
        >>> class Names(snapshot_writers.Writer):
        ...     def __call__(self, filename, outdir, target):
        ...         print(filename, sorted(target))
        >>> trainer.extend(snapshot(writer=Names(), target=model), trigger=(1, 'epoch'))
        >>> trainer.run()
        snapshot_iter_4 ['predictor/W', 'predictor/b']
        snapshot_iter_8 ['predictor/W', 'predictor/b']

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


@set_module('chainer.training.extensions.snapshot_writers')
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


class WorkerThread(threading.Thread):
    """Thread that keeps the exception of its function."""

    error = None

    def run(self) -> None:
        try:
            super().run()
        except Exception as e:
            self.error = e


def start_worker(worker):
    with warnings.catch_warnings():
        # The forked process only writes a file and takes none of our locks.
        warnings.filterwarnings('ignore', '.*fork', DeprecationWarning)
        worker.start()


def check_worker(worker):
    error = getattr(worker, 'error', None)
    if isinstance(error, Exception):
        raise RuntimeError(f'writing a snapshot failed: {error}') from error
    exitcode = getattr(worker, 'exitcode', 0)
    if isinstance(exitcode, int) and exitcode != 0:
        raise RuntimeError(f'the process that writes snapshots failed, exit code {exitcode}')


def copy_arrays(target):
    """Copies the arrays, because training changes them during the writing."""
    if not isinstance(target, dict):
        return target
    copy = type(target)()
    copy.update((key, array.copy()) for key, array in target.items())
    return copy
