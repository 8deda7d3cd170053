"""What takes the place of reporters while a call is recorded."""

from __future__ import annotations

from typing import Any

from chainer import reporter
from chainer.compilation import _trees
from chainer.configuration import config


class Reports(reporter.Reporter):
    """Passes reports on and notes them."""

    def __init__(self, current: reporter.Reporter, notes: list[tuple[dict[str, Any], Any]]) -> None:
        super().__init__()
        self._current = current
        self._notes = notes
        self.observation = current.observation

    def report(self, values: dict[str, Any], observer: Any = None) -> None:
        self._current.report(values, observer)
        if not config.keep_graph_on_report:
            values = _trees.without_graphs(values)
        self._notes.append((dict(values), observer))
