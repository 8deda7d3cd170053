"""Why calls ran eagerly, as texts and tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from chainer._core.reports import html_table

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A reason that ends with lines of the program, in parentheses.
_WITH_LINES = re.compile(r'(.*) \(([^()]+:\d+(?:, [^()]+:\d+)*)\)', re.DOTALL)


class Reason(NamedTuple):
    """Why calls ran eagerly.

    Attributes:
        text: What it was.
        lines: Where in the program, such as ``train.py:12``, or an empty text.
        times: How often a call found it.

    """

    text: str
    lines: str
    times: int


class Reasons:
    """Counts the reasons.

    Args:
        name: The name of the function.
        explains: Whether to print reasons when they come up.

    """

    def __init__(self, name: str, explains: bool) -> None:
        self._name = name
        self._explains = explains
        self._counts: dict[str, int] = {}
        self._changes: set[str] = set()

    def count(self, reason: str) -> None:
        """Counts a call that ran eagerly."""
        # Once: a reason may come at each call.
        if self._explains and reason not in self._counts:
            self._print(f'falls back to eager: {reason}')
        self._counts[reason] = self._counts.get(reason, 0) + 1

    def explain_change(self, change: str) -> None:
        """Tells what keeps a plan that was made for the arguments of a call from running."""
        if self._explains and change not in self._changes:
            self._changes.add(change)
            self._print(f'records again: {change} has changed')

    def _print(self, what: str) -> None:
        print(f'chainer.compile: {self._name} {what}', flush=True)  # noqa: T201 - what it is for

    def __iter__(self) -> Iterator[Reason]:
        """Goes over the reasons, the most frequent first."""
        for text, count in sorted(self._counts.items(), key=lambda item: -item[1]):
            match = _WITH_LINES.fullmatch(text)
            reason, lines = match.groups() if match else (text, '')
            yield Reason(reason, lines, count)

    def lines(self) -> list[str]:
        """Returns a line for each."""
        return [
            f'no plan: {text}'
            + (f' ({lines})' if lines else '')
            + (f' ({count} times)' if count > 1 else '')
            for text, lines, count in self
        ]

    def html(self) -> str:
        """Returns a table, or an empty text if there are none."""
        rows = [[text, lines, str(count)] for text, lines, count in self]
        return html_table.table(['no plan, because', 'line', 'calls'], rows) if rows else ''
