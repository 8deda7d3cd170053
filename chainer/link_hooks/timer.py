from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TextIO

from chainer import link_hook
from chainer._core.reports import profile_report

if TYPE_CHECKING:
    from chainer.link_hook import _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs


class TimerHook(link_hook.LinkHook):
    """Link hook that measures the time of links.

    It measures host time. A link called by another link counts in both.

    Attributes:
        call_history: List of pairs of a link's class name and the elapsed
            seconds.

    .. admonition:: Example

        >>> hook = chainer.link_hooks.TimerHook()
        >>> model = chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2))
        >>> with hook:
        ...     y = model(np.zeros((1, 3), np.float32))
        >>> [name for name, seconds in hook.call_history]
        ['Linear', 'Linear', 'Sequential']

    """

    name = 'TimerHook'
    table: dict[str, int] = {'sec': 1, 'ms': 10**3, 'us': 10**6, 'ns': 10**9}

    def __init__(self) -> None:
        self.call_history: list[Any] = []
        self._start_times: list[Any] = []
        self._total_time = 0

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        self._start_times.append(time.perf_counter())

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        elapsed = time.perf_counter() - self._start_times.pop()
        self.call_history.append((type(args.link).__name__, elapsed))
        if not self._start_times:
            self._total_time += elapsed

    def total_time(self) -> float:
        """Returns the seconds spent in all links; nested calls count once."""
        return self._total_time

    def summary(self) -> dict[str, dict[str, float]]:
        """Returns a summary by link class.

        Returns:
            dict: Class names to dictionaries of ``elapsed_time`` and
            ``occurrence``.

        """
        summary: dict[str, Any] = {}
        for name, elapsed in self.call_history:
            record = summary.setdefault(name, {'elapsed_time': 0, 'occurrence': 0})
            record['elapsed_time'] += elapsed
            record['occurrence'] += 1
        return summary

    def print_report(self, unit: str = 'auto', file: TextIO | None = None) -> None:
        """Prints the summary as a table.

        Args:
            unit (str): ``'sec'``, ``'ms'``, ``'us'``, ``'ns'``, ``'auto'`` for
                one suitable unit, or ``'auto_foreach'`` for one per row.
            file: Text file; standard output by default.

        Raises:
            KeyError: If there is no such unit.

        """
        profile_report.print_table(
            'LinkName', self.summary(), {'elapsed_time': 'ElapsedTime'}, self.table, unit, file
        )
