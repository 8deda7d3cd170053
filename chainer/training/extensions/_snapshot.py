from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Any

from chainer import configuration, serializers
from chainer.serializers import npz
from chainer.training import extension
from chainer.training.extensions import snapshot_writers

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from chainer.serializer import AbstractSerializer
    from chainer.training.extension import Extension
    from chainer.training.trainer import Trainer


def snapshot_object(
    target: Any,
    filename: str | Callable[[Trainer], str],
    savefun: Callable[..., Any] | None = None,
    *,
    condition: Callable[[], bool] | None = None,
    writer: Any = None,
    snapshot_on_error: bool = False,
    n_retains: int = -1,
    autoload: bool = False,
) -> Extension:
    """Returns an extension that saves an object, e.g. a model, regularly.

    It takes the arguments of :func:`snapshot`, except

    Args:
        target: Object with a ``serialize`` method.
        filename (str or callable): Name of the file in the output folder: a format string for
            the trainer (e.g. ``'model_{.updater.iteration}'``), or a function of the trainer.

    Returns:
        Extension.

    .. admonition:: Example

        >>> import os
        >>> trainer.extend(chainer.training.extensions.snapshot_object(
        ...     model, 'model_epoch_{.updater.epoch}.npz'), trigger=(1, 'epoch'))
        >>> trainer.run()
        >>> sorted(os.listdir(trainer.out))
        ['model_epoch_1.npz', 'model_epoch_2.npz']

    """
    writer = _make_writer(savefun, writer)
    return _Snapshot(target, condition, writer, filename, snapshot_on_error, n_retains, autoload)


def snapshot(
    savefun: Callable[..., Any] | None = None,
    filename: str | Callable[[Trainer], str] = 'snapshot_iter_{.updater.iteration}',
    *,
    target: Any = None,
    condition: Callable[[], bool] | None = None,
    writer: Any = None,
    snapshot_on_error: bool = False,
    n_retains: int = -1,
    autoload: bool = False,
) -> Extension:
    """Returns an extension that saves the trainer regularly, by default at each epoch.

    A snapshot gets its file name only when it is complete and on disk, so the earlier snapshots
    stay intact even if the program is killed.

    The priority is -100, so that the snapshot includes the effects of all other extensions.

    Besides the state that Chainer 7 saves, a snapshot holds what exact resumption needs, such as
    the states of the random generators, unless ``chainer.config.exact_resume`` is ``'never'``.
    Chainer 7 loads it, too.

    Args:
        savefun: Function of a path and the serialized object that writes the file;
            :func:`~chainer.serializers.save_npz` by default.
        filename (str or callable): Name of the file in the output folder: a format string for
            the trainer, or a function of the trainer.
        target: Object to save instead of the trainer.
        condition: Function without arguments that returns whether to save.
        writer: Writer of :mod:`chainer.training.extensions.snapshot_writers`, which may use
            threads or processes. Excludes ``savefun``.
        snapshot_on_error (bool): If true, also saves a snapshot when an exception, Ctrl-C or
            SIGTERM stops the training, see :meth:`chainer.training.Trainer.run`.
        n_retains (int): Number of latest snapshots to keep; deletes older ones. Keeps all if
            not positive. Requires ``filename`` to be a string.
        autoload (bool): If true, loads the latest snapshot in the output folder before the
            training starts. Skips a file that is damaged or does not fit with a warning, and
            tries the one before it.
            Requires ``filename`` to be a string.

    Raises:
        TypeError: If both ``savefun`` and ``writer`` are given.

    .. admonition:: Example

        >>> import os
        >>> trainer.extend(
        ...     chainer.training.extensions.snapshot(n_retains=2), trigger=(1, 'iteration'))
        >>> trainer.run()
        >>> sorted(os.listdir(trainer.out))
        ['snapshot_iter_7', 'snapshot_iter_8']

    """
    writer = _make_writer(savefun, writer)
    return _Snapshot(target, condition, writer, filename, snapshot_on_error, n_retains, autoload)


def _make_writer(savefun, writer):
    if savefun is not None and writer is not None:
        raise TypeError('savefun and writer arguments cannot be specified together.')
    if writer is not None:
        return writer
    return snapshot_writers.SimpleWriter(savefun=savefun or npz.save_npz)


class _SerializedObject(dict):
    """Serialized object that any save function accepts."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        for key, array in self.items():
            serializer(key, None if array.dtype == object else array)  # npz stores None so


class _Snapshot(extension.Extension):
    """Extension that saves an object to a file in the output folder."""

    trigger = 1, 'epoch'
    priority = -100

    def __init__(
        self,
        target: Any = None,
        condition: Callable[[], bool] | None = None,
        writer: Any = None,
        filename: str | Callable[[Trainer], str] = 'snapshot_iter_{.updater.iteration}',
        snapshot_on_error: bool = False,
        n_retains: int = -1,
        autoload: bool = False,
    ) -> None:
        self._target = target
        self.filename = filename
        self.condition = _always_true if condition is None else condition
        self.writer = snapshot_writers.SimpleWriter() if writer is None else writer
        self._snapshot_on_error = snapshot_on_error
        self.n_retains = n_retains
        self.autoload = autoload

    def initialize(self, trainer: Trainer) -> None:
        target = trainer if self._target is None else self._target
        if self.autoload:
            self._autoload(trainer.out, target)
        if (
            hasattr(self.writer, '_add_cleanup_hook')
            and self.n_retains > 0
            and isinstance(self.filename, str)
        ):

            def cleanup():
                for name in _find_stale_snapshots(self.filename, trainer.out, self.n_retains):
                    os.remove(os.path.join(trainer.out, name))

            self.writer._add_cleanup_hook(cleanup)

    def _autoload(self, outdir, target):
        names = []
        if isinstance(self.filename, str) and os.path.isdir(outdir):
            names = [name for _, name in _find_snapshot_files(self.filename, outdir)]
        for name in reversed(names):
            path = os.path.join(outdir, name)
            try:
                # If this fails, the target keeps its state.
                serializers.load_npz(path, target)
            except Exception as e:  # whatever a damaged value causes, and exhausted memory
                warnings.warn(
                    f'The snapshot {path} cannot be loaded, so an older one is tried: '
                    f'{str(e) or type(e).__name__}'
                )
            else:
                print('Snapshot loaded from', path)
                return
        print(f'No snapshot file that matches {self.filename} was found')

    def on_error(self, trainer: Trainer, exc: Exception, tb: TracebackType) -> None:
        if self._snapshot_on_error:
            self._make_snapshot(trainer)

    def __call__(self, trainer: Trainer) -> None:
        if self.condition():
            self._make_snapshot(trainer)

    def _make_snapshot(self, trainer):
        target = trainer if self._target is None else self._target
        exact = 'never' if configuration.config.exact_resume == 'never' else 'always'
        with configuration.using_config('exact_resume', exact):
            state = npz.serialize(target)
        filename = self.filename
        if callable(filename):
            filename = filename(trainer)
        else:
            filename = filename.format(trainer)
        self.writer(filename, trainer.out, _SerializedObject(state))

    def finalize(self) -> None:
        if hasattr(self.writer, 'finalize'):
            self.writer.finalize()


def _always_true():
    return True


def _name_pattern(fmt):
    """Returns a regular expression that matches the file names of a format string."""
    parts = re.split(r'(?:\{[^{}]*\})', fmt)
    return '([0-9.]+)'.join(re.escape(part.replace('{{', '{').replace('}}', '}')) for part in parts)


def _find_snapshot_files(fmt, path):
    """Finds the snapshots in a folder.

    Args:
        fmt (str): Format string of the file names.
        path (str): Folder.

    Returns:
        list: Pairs of modification time and name, oldest first.

    """
    pattern = re.compile(_name_pattern(fmt))
    found = []
    if os.path.isdir(path):
        for name in os.listdir(path):
            match = pattern.fullmatch(name)
            if match:
                # Modification times may be equal at the clock's resolution; numbers decide then.
                numbers = [
                    float(n) if re.fullmatch(r'\d+(\.\d+)?', n) else 0.0 for n in match.groups()
                ]
                mtime = os.stat(os.path.join(path, name)).st_mtime_ns
                found.append(((mtime, numbers), name))
    found.sort()
    return [(mtime / 1e9, name) for (mtime, _), name in found]


def _find_latest_snapshot(fmt, path):
    """Returns the name of the youngest snapshot in a folder, or ``None``."""
    found = _find_snapshot_files(fmt, path)
    return found[-1][1] if found else None


def _find_stale_snapshots(fmt, path, n_retains):
    """Returns the names of all but the youngest snapshots in a folder."""
    found = _find_snapshot_files(fmt, path)
    return [name for _, name in found[: max(len(found) - n_retains, 0)]]
