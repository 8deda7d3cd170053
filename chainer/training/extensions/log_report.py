from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from chainer import serializer as serializer_module
from chainer._core.models import saving
from chainer.training import _files
from chainer.training.extensions import _interval_report
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.serializer import AbstractSerializer
    from chainer.types import TriggerSpec


class LogReport(_interval_report.IntervalReport):
    """Extension that writes the means of observed values to a JSON file.

    A trigger sets the intervals. At the end of each interval, the extension appends the means,
    ``epoch``, ``iteration`` and ``elapsed_time`` to the log, and writes the log as a list of
    dictionaries.

    The file is what Chainer 7 writes, and each reads the other's. Infinity and NaN are the words
    ``Infinity``, ``-Infinity`` and ``NaN``, which JSON does not have: Python's :mod:`json` reads
    them, but other programs may not. :class:`JsonLinesReport` writes them as ``null``.

    Args:
        keys (iterable of strs): Keys of the values; all values by default.
        trigger: Trigger that ends the intervals. (The trainer must call the extension after
            each iteration.)
        postprocess: Function that may change the dictionary of an interval before it is
            appended.
        filename (str): Name of the file in the output folder, ``log`` by default. It can be
            a format string for the dictionary of the last interval, such as
            ``'log_{epoch}'``.

    .. admonition:: Example

        >>> trainer.extend(chainer.training.extensions.LogReport(trigger=(1, 'epoch')))
        >>> trainer.run()
        >>> [round(entry['main/loss'], 2) for entry in trainer.get_extension('LogReport').log]
        [2.26, 2.0]

    """

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: TriggerSpec = (1, 'epoch'),
        postprocess: Callable[..., Any] | None = None,
        filename: str | None = None,
        **kwargs: Any,
    ) -> None:
        # log_name is the name of the argument in old versions.
        (log_name,) = argument.parse_kwargs(kwargs, ('log_name', 'log'))
        super().__init__(keys, trigger, postprocess)
        self._log_name = log_name if filename is None else filename
        self._log: list[dict[str, Any]] = []

    def _record(self, trainer, stats):
        self._log.append(stats)
        if self._log_name is not None:
            path = os.path.join(trainer.out, self._log_name.format(**stats))
            with _files.atomic_file(path, durable=False) as temp_path:
                with open(temp_path, 'w') as f:
                    json.dump(self._log, f, indent=4)

    @property
    def log(self) -> list[dict[str, Any]]:
        """List of the dictionaries of all intervals."""
        return self._log

    def serialize(self, serializer: AbstractSerializer) -> None:
        super().serialize(serializer)
        if isinstance(serializer, serializer_module.Serializer):
            serializer('_log', json.dumps(self._log))
        else:
            self._log = saving.load_json(serializer, '_log', list, dict, self._log)
