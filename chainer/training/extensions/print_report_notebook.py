from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

from chainer._core.reports import html_table
from chainer.training.extensions import _ipynb, print_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer


class PrintReportNotebook(print_report.PrintReport):
    """Version of :class:`~chainer.training.extensions.PrintReport` for notebooks.

    In Jupyter notebooks it replaces that class. It shows its table in the output of the cell, and
    updates it in its place. Where IPython is not installed, it prints text.

    Args:
        entries (list of strs): Keys of the values, the columns of the table.
        log_report (str or LogReport): Log report to print: the name of an extension in the
            trainer, or a separate extension, which this one calls.
        out: File to print text to, the standard output by default.

    """

    def __init__(
        self,
        entries: Sequence[str],
        log_report: str | LogReport = 'LogReport',
        out: IO[Any] = sys.stdout,
    ) -> None:
        super().__init__(entries, log_report, out)
        self._output: _ipynb.Output | None = None

    def initialize(self, trainer: Trainer) -> None:
        try:
            self._output = _ipynb.Output()
        except ImportError:
            return
        self._show(self._output, self._update(trainer) if trainer.updater.iteration > 0 else [])

    def __call__(self, trainer: Trainer) -> None:
        if self._output is None:
            super().__call__(trainer)
            return
        log = self._update(trainer)
        if len(log) > self._log_len:
            self._show(self._output, log)

    def _show(self, output, log):
        self._log_len = len(log)
        rows = [[f'{row[key]:g}' if key in row else '' for key in self._entries] for row in log]
        output.show_html(html_table.table(self._entries, rows))
