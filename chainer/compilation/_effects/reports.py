"""What links report to the current reporter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import reporter
from chainer.compilation import _trees
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._trace import GraphBreak
from chainer.configuration import config

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._scope import Scope


class Report(Effect):
    """A report, given to the reporter of the moment.

    Whether there is one is a part of the environment of a plan.
    """

    def __init__(self, values: Callable[[list[Any]], Any], observer: Any) -> None:
        self._values = values
        self._observer = observer

    def tell(self, arrays: list[Any]) -> None:
        # A trainer has a reporter for each iteration, so that the one of the recording is gone.
        reporter.get_current_reporter().report(self._values(arrays), self._observer)

    def describe(self, contents: Contents) -> None:
        pass  # there is no reporter in C++


class Reports(Observer):
    """Notes reports, in the place of the current reporter."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._notes: list[tuple[dict[str, Any], Any]] = []
        self._reporters: list[reporter.Reporter] = []

    def start(self) -> None:
        self._reporters = reporter._get_reporters()
        if self._reporters:
            # Links look up the current reporter, so that this one stands in front of it.
            self._reporters.append(_Listener(self._reporters[-1], self._notes))

    def stop(self) -> None:
        if self._reporters:
            self._reporters.pop()

    def finish(self, draft: Draft) -> None:
        for values, observer in self._notes:
            if observer is not None and id(observer) not in self._scope.known:
                raise GraphBreak('an unknown observer reports')
            draft.effects.append(Report(draft.maker_of(values), observer))


class _Listener(reporter.Reporter):
    """Passes reports on and notes them."""

    def __init__(self, current: reporter.Reporter, notes: list[tuple[dict[str, Any], Any]]) -> None:
        super().__init__()
        self._current = current
        self._notes = notes
        self.observation = current.observation

    def report(self, values: dict[str, Any], observer: Any = None) -> None:
        self._current.report(values, observer)
        # As reporters do. With graphs, the values are a graph break, for the next call's have none.
        if not config.keep_graph_on_report:
            values = _trees.without_graphs(values)
        self._notes.append((dict(values), observer))
