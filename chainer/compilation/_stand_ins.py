"""What takes the place of methods and reporters while a call is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import reporter
from chainer.compilation import _trees
from chainer.configuration import config

if TYPE_CHECKING:
    from chainer.compilation._recording import Recording


class Update:
    """Takes the place of the method of an optimizer while a call is recorded."""

    def __init__(self, opt: Any, recording: Recording) -> None:
        self._optimizer = opt
        self._recording = recording

    def __call__(self, lossfun: Any = None, *args: Any, **kwds: Any) -> None:
        opt = self._optimizer
        if lossfun is not None:
            opt._replace_grads(lossfun, args, kwds)
        self._recording.update(opt)


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
