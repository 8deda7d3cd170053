from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any

from chainer.training import _serialization, extension
from chainer.training.extensions import log_report as log_report_module, util

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.serializer import AbstractSerializer
    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer


class PrintReport(extension.Extension):
    r"""Extension that prints the entries of a log report as a table.

    Args:
        entries (list of strs): Keys of the values, the columns of the table.
        log_report (str or LogReport): Log report to print: the name of an extension in the
            trainer, or a separate extension, which this one calls.
        out: File to write to, the standard output by default.

    .. admonition:: Example

        >>> import io
        >>> out = io.StringIO()
        >>> trainer.extend(chainer.training.extensions.LogReport(trigger=(1, 'epoch')))
        >>> trainer.extend(chainer.training.extensions.PrintReport(['epoch', 'main/loss'], out=out))
        >>> trainer.run()
        >>> print(out.getvalue().replace('\033[J', ''))  # the code erases progress bars
        epoch       main/loss
        1           2.25744
        2           2.00226

    """

    def __init__(
        self,
        entries: Sequence[str],
        log_report: str | LogReport = 'LogReport',
        out: IO[Any] = sys.stdout,
    ) -> None:
        self._entries = entries
        self._log_report = log_report
        # Look up the default here, because the standard output may have been redirected.
        self._out = sys.stdout if out is _default_out else out
        self._log_len = 0  # number of entries that are printed

        widths = [max(10, len(entry)) for entry in entries]
        titles = [f'{entry:{width}}' for entry, width in zip(entries, widths)]
        self._header: str | None = '  '.join(titles) + '\n'
        self._templates = [
            (entry, f'{{:<{width}g}}  ', ' ' * (width + 2)) for entry, width in zip(entries, widths)
        ]

    def __call__(self, trainer: Trainer) -> None:
        log = self._update(trainer)
        if self._header:
            self._out.write(self._header)
            self._header = None
        while len(log) > self._log_len:
            # Erase a progress bar.
            if os.name != 'nt' and not util.is_redirected(self._out):
                self._out.write('\033[J')
            self._print(log[self._log_len])
            self._log_len += 1

    def _update(self, trainer):
        """Returns the current log."""
        log_report = self._log_report
        if isinstance(log_report, str):
            log_report = trainer.get_extension(log_report)
        elif isinstance(log_report, log_report_module.LogReport):
            log_report(trainer)
        else:
            raise TypeError(f'log report has a wrong type {type(log_report)}')
        return log_report.log

    def _print(self, observation):
        for entry, template, empty in self._templates:
            if entry in observation:
                self._out.write(template.format(observation[entry]))
            else:
                self._out.write(empty)
        self._out.write('\n')
        if hasattr(self._out, 'flush'):
            self._out.flush()

    def serialize(self, serializer: AbstractSerializer) -> None:
        log_report = self._log_report
        if isinstance(log_report, log_report_module.LogReport):
            _serialization.serialize_part(log_report, serializer, '_log_report')


_default_out = sys.stdout
