"""What is reported in the parts of a step."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from chainer import reporter

if TYPE_CHECKING:
    from collections.abc import Generator


class Observations:
    """Means of the reported numbers over batches; the last of other values."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._summary = reporter.DictSummary()

    @contextlib.contextmanager
    def collect(self, weight: float) -> Generator[None, None, None]:
        if not reporter._get_reporters():
            yield  # no reporter is current
            return
        observation: dict[str, Any] = {}
        with reporter.report_scope(observation):
            yield
        # A variable would keep its graph.
        self._last.update({key: getattr(x, 'array', x) for key, x in observation.items()})
        self._summary.add({key: (value, weight) for key, value in observation.items()})

    def report(self) -> None:
        reporter.report({**self._last, **self._summary.compute_mean()})
