"""What links report to the current reporter."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from chainer import reporter
from chainer.compilation import _trees
from chainer.compilation._effects.effect import Effect, Observer
from chainer.compilation._trace import GraphBreak, current_line, is_program_code
from chainer.configuration import config

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._effects.effect import Change
    from chainer.compilation._effects.updates import Updates
    from chainer.compilation._scope import Scope


#: What a program may read of the current reporter. All else tells of the reporter, or changes it.
_REPORTING = 'report', 'scope'


class Report(Effect):
    """A report of an observer, given to the reporter of the moment.

    Whether there is one is a part of the environment of a plan.
    """

    def __init__(self, observer: Any) -> None:
        self._observer = observer

    def find_inputs(self, arrays: list[Any]) -> bool:
        # A trainer has a reporter for each iteration, so that the one of the recording is gone.
        current = reporter.get_current_reporter()
        if _is_own(current):
            return False
        return self._observer is None or id(self._observer) in current._observer_names

    def save(self) -> Callable[[], None]:
        observation = reporter.get_current_reporter().observation
        values = dict(observation)

        def restore() -> None:
            observation.clear()
            observation.update(values)

        return restore

    def describe(self, contents: Contents) -> None:
        pass  # there is no reporter in C++


class Reports(Observer):
    """Notes reports, in the place of the current reporter.

    Args:
        scope: The objects that may report.
        updates: Counts the updates, before which runs repeat what is reported by then.

    """

    def __init__(self, scope: Scope, updates: Updates) -> None:
        self._scope = scope
        self._updates = updates
        self._notes: list[tuple[int, dict[str, Any], Any]] = []
        self._reporters: list[reporter.Reporter] = []
        self._listener: _Listener | None = None
        self._is_aside = False
        self._graph_break: str | None = None

    def start(self) -> None:
        reporters = reporter._get_reporters()
        if reporters:
            if _is_own(reporters[-1]):
                raise GraphBreak('the current reporter is one of the program')
            # Links look up the current reporter, so that this one stands in front of it.
            self._listener = _Listener(reporters[-1], self._note, self._note_read)
            reporters.append(self._listener)
            self._reporters = reporters

    def stop(self) -> None:
        if self._reporters:
            self._reporters.pop()

    def note(self) -> None:
        # Hooks of an eager update report themselves in a run.
        self._is_aside = True

    def renew(self) -> None:
        self._is_aside = False

    def find_change(self) -> str | None:
        is_same = not self._reporters or self._reporters[-1] is self._listener
        return None if is_same else 'the current reporter changes'

    def _note(self, values: dict[str, Any], observer: Any) -> None:
        if not self._is_aside:
            self._notes.append((self._updates.count, values, observer))

    def _note_read(self, name: str) -> None:
        if self._graph_break is None and not self._is_aside:
            self._graph_break = f'{name} of the current reporter is read ({current_line()})'

    def check(self) -> None:
        if self._graph_break is not None:
            raise GraphBreak(self._graph_break)

    def finish(self, draft: Draft) -> None:
        for update, values, observer in self._notes:
            if observer is not None and id(observer) not in self._scope.known:
                raise GraphBreak('an unknown observer reports')
            draft.effects.append(Report(observer))
            draft.changes[update].append(_telling(draft.maker_of(values), observer))


class _Listener(reporter.Reporter):
    """Stands for the current reporter, and tells what is reported to it, and what is read of it."""

    def __init__(
        self,
        current: reporter.Reporter,
        note: Callable[[dict[str, Any], Any], None],
        note_read: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._observer_names = current._observer_names
        self.observation = self._observation = current.observation
        self._note = note
        self._note_read = note_read

    def __getattribute__(self, name: str) -> Any:
        if name not in _REPORTING and is_program_code(sys._getframe(1).f_code):
            self._note_read(name)
        return super().__getattribute__(name)

    def report(self, values: dict[str, Any], observer: Any = None) -> None:
        super().report(values, observer)
        # Within `report_scope`, the program itself has what is reported. What remains is that a
        # reporter of a later call may not know the observer.
        if self.observation is not self._observation:
            values = {}
        # As reporters do. With graphs, the values are a graph break, for the next call's have none.
        if not config.keep_graph_on_report:
            values = _trees.without_graphs(values)
        self._note(dict(values), observer)


def _is_own(current: reporter.Reporter) -> bool:
    """Tells whether a reporter is one of the program, which may do anything."""
    return type(current) not in (reporter.Reporter, _Listener) or 'report' in vars(current)


def _telling(make: Callable[[list[Any]], Any], observer: Any) -> Change:
    def change(arrays: list[Any]) -> None:
        reporter.get_current_reporter().report(make(arrays), observer)

    return change
