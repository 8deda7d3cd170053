from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

from chainer import serializer as serializer_module
from chainer.training.extensions import _interval_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.serializer import AbstractSerializer
    from chainer.types import TriggerSpec


class JsonLinesReport(_interval_report.IntervalReport):
    """Extension that appends the means of observed values to a file, one line of JSON each.

    A trigger sets the intervals. At the end of each interval, the extension appends a line with
    the means, ``epoch``, ``iteration`` and ``elapsed_time``. Unlike :class:`LogReport`, which
    rewrites its file each time, you can follow the file while it grows (``tail -f``), and the
    cost of a line does not depend on the number of earlier lines.

    One system call writes each line; if it fails, as on a full disk, the extension removes the
    partial line. New training starts a new file. Training resumed from a snapshot removes the
    lines written after the snapshot, so no interval appears twice.

    JSON has no infinity and NaN; the extension writes them as ``null``.

    Args:
        keys (iterable of strs): Keys of the values; all values by default.
        trigger: Trigger that ends the intervals. (The trainer must call the extension after
            each iteration.)
        postprocess: Function that may change the dictionary of an interval before it is
            written.
        filename (str): Name of the file in the output folder.

    .. admonition:: Example

        >>> import os
        >>> trainer.extend(chainer.training.extensions.JsonLinesReport(trigger=(1, 'epoch')))
        >>> trainer.run()
        >>> with open(os.path.join(trainer.out, 'log.jsonl')) as file:
        ...     print(file.read())
        {"main/loss": ..., "epoch": 1, "iteration": 4...}
        {"main/loss": ..., "epoch": 2, "iteration": 8...}

    """

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: TriggerSpec = (1, 'epoch'),
        postprocess: Callable[..., Any] | None = None,
        filename: str = 'log.jsonl',
    ) -> None:
        super().__init__(keys, trigger, postprocess)
        self._filename = filename
        self._size = 0  # bytes of this training in the file
        self._fd: int | None = None

    def _record(self, trainer, stats):
        fd = self._fd
        if fd is None:
            fd = self._open(os.path.join(trainer.out, self._filename))
        stats = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in stats.items()
        }
        line = (json.dumps(stats, allow_nan=False) + '\n').encode()
        try:
            written = os.write(fd, line)
            if written < len(line):  # the disk is full; the next attempt raises
                os.write(fd, line[written:])
        except OSError:
            os.ftruncate(fd, self._size)
            raise
        self._size += len(line)

    def _open(self, path):
        self._fd = fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        # The file may be shorter than before, after a loss of power or in another folder.
        size = min(self._size, os.fstat(fd).st_size)
        with open(path, 'rb') as f:
            self._size = f.read(size).rfind(b'\n') + 1
        os.ftruncate(fd, self._size)
        return fd

    def finalize(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        if isinstance(serializer, serializer_module.Serializer) and self._fd is not None:
            os.fsync(self._fd)  # a snapshot must not outlive the lines before it
        self._size = serializer('_size', self._size)
