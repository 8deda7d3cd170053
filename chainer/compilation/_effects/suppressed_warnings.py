"""Warnings of this package that Python's filters suppress, such as those of old names."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer.compilation._effects.effect import Effect, Observer

if TYPE_CHECKING:
    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.draft import Draft
    from chainer.compilation._trace import Trace


class SuppressedWarnings(Effect):
    """Lets a plan run only under the filters that suppressed the warnings of its recording."""

    def __init__(self) -> None:
        self._filters = list(warnings.filters)

    def find_inputs(self, arrays: list[Any]) -> bool:
        return warnings.filters == self._filters

    def describe(self, contents: Contents) -> None:
        pass  # nothing warns in C++


class Warnings(Observer):
    """Adds the guard of calls that warn; a warning that is shown is a graph break.

    Args:
        trace: Tells of warnings.

    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def finish(self, draft: Draft) -> None:
        if self._trace.warns:
            draft.effects.append(SuppressedWarnings())
