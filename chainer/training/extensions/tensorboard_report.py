from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from chainer.training.extensions import _interval_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.training.trainer import Trainer
    from chainer.types import TriggerSpec


class TensorBoardReport(_interval_report.IntervalReport):
    """Extension that writes the means of observed values for TensorBoard.

    A trigger sets the intervals. At the end of each interval, the extension writes the means and
    ``epoch`` as scalars under their keys, with the iteration as the step. It uses the package
    ``tensorboardX`` if it is installed, or else ``tensorboard``; neither needs another deep
    learning framework. ``pip install 'chainer[tensorboard]'`` installs the first.

    Training resumed from a snapshot writes a new file to the folder. The file tells TensorBoard
    to ignore later steps of the interrupted training.

    Args:
        keys (iterable of strs): Keys of the values; all values by default.
        trigger: Trigger that ends the intervals. (The trainer must call the extension after
            each iteration.)
        postprocess: Function that may change the dictionary of an interval before it is
            written.
        logdir (str): Folder of the files, relative to the output folder. The output folder by
            default.
        writer: Object with the methods ``add_scalar(tag, value, step)`` and ``flush()``, such as
            a ``SummaryWriter``. The extension does not close it. Excludes ``logdir``.

    Raises:
        ImportError: If neither package is installed and no writer is given.
        TypeError: If both ``logdir`` and ``writer`` are given.

    .. admonition:: Example

        >>> class Printer:  # stands for a SummaryWriter
        ...     def add_scalar(self, tag, value, step):
        ...         print(f'{step} {tag} {value:.2f}')
        ...     def flush(self):
        ...         pass
        >>> trainer.extend(chainer.training.extensions.TensorBoardReport(
        ...     ['main/loss'], trigger=(1, 'epoch'), writer=Printer()))
        >>> trainer.run()
        4 main/loss 2.26
        4 epoch 1.00
        8 main/loss 2.00
        8 epoch 2.00

    """

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: TriggerSpec = (1, 'epoch'),
        postprocess: Callable[..., Any] | None = None,
        logdir: str | None = None,
        writer: Any = None,
    ) -> None:
        super().__init__(keys, trigger, postprocess)
        if writer is not None and logdir is not None:
            raise TypeError('logdir and writer cannot be specified together')
        self._make_writer = _import_writer() if writer is None else None
        self._logdir = logdir or ''
        self._writer = writer

    def __call__(self, trainer: Trainer) -> None:
        if self._writer is None and self._make_writer is not None:
            # Not in initialize(): only here the iteration of the resumed snapshot is known.
            self._writer = self._make_writer(
                os.path.join(trainer.out, self._logdir), trainer.updater.iteration
            )
        super().__call__(trainer)

    def _record(self, trainer, stats):
        for key, value in stats.items():
            # TensorBoard knows the step and the time of every value.
            if key not in ('iteration', 'elapsed_time'):
                self._writer.add_scalar(key, value, trainer.updater.iteration)
        self._writer.flush()

    def finalize(self) -> None:
        if self._make_writer is not None and self._writer is not None:
            self._writer.close()
            self._writer = None


def _import_writer():
    """Returns a function of a folder and the first step that makes a writer."""
    try:
        import tensorboardX
    except ImportError:
        pass
    else:
        return lambda folder, step: tensorboardX.SummaryWriter(folder, purge_step=step)
    try:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer import event_file_writer
    except ImportError as e:
        raise ImportError(
            'TensorBoardReport needs the package tensorboardX or tensorboard, but neither '
            "can be imported: pip install 'chainer[tensorboard]'"
        ) from e
    return lambda folder, step: _EventWriter(
        event_file_writer.EventFileWriter(folder), event_pb2, summary_pb2, step
    )


class _EventWriter:
    """Implements the two required methods with the package ``tensorboard``."""

    def __init__(self, writer: Any, event_pb2: Any, summary_pb2: Any, first_step: int) -> None:
        self._writer = writer
        self._Event = event_pb2.Event
        self._Summary = summary_pb2.Summary
        # Voids this and later steps in other files of the folder.
        self._add(first_step, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))

    def _add(self, step, **content):
        self._writer.add_event(self._Event(wall_time=time.time(), step=step, **content))

    def add_scalar(self, tag: str, value: Any, step: int) -> None:
        value = self._Summary.Value(tag=tag, simple_value=value)
        self._add(step, summary=self._Summary(value=[value]))

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
