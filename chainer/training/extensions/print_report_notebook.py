from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

from chainer.training.extensions import print_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.training.extensions.log_report import LogReport
    from chainer.training.trainer import Trainer


class PrintReportNotebook(print_report.PrintReport):
    """Version of :class:`~chainer.training.extensions.PrintReport` for notebooks.

    In Jupyter notebooks it replaces that class. It updates its table in place if ipywidgets and
    pandas are installed, and prints text otherwise.

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
        self._widget = None

    def initialize(self, trainer: Trainer) -> None:
        try:
            import ipywidgets
            import pandas  # noqa: F401
            from IPython import display
        except ImportError:
            return
        self._widget = ipywidgets.HTML()
        self._show(trainer)
        display.display(self._widget)

    def __call__(self, trainer: Trainer) -> None:
        if self._widget is None:
            super().__call__(trainer)
        else:
            self._show(trainer)

    def _show(self, trainer):
        import pandas

        log = self._update(trainer) if trainer.updater.iteration > 0 else []
        if log or not self._widget.value:
            frame = pandas.DataFrame(log, columns=self._entries)
            self._widget.value = frame.to_html(index=False, na_rep='')
