"""Sums of spans, as rows and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from chainer._core.reports.text_table import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from chainer.profiler._spans import Span


class Row(NamedTuple):
    """Sum of the spans of one category and name on one thread."""

    #: What kind of thing ran, such as ``'forward'`` or ``'iterator'``.
    category: str
    #: Its name, such as that of the class of a function.
    name: str
    #: Number of spans.
    calls: int
    #: Seconds from beginnings to ends; those that run inside of equal ones count once.
    total: float
    #: Seconds without those of other spans in it. They add up to the time of the thread.
    own: float


def _nest(spans: Iterable[Span]) -> Iterator[tuple[Span, int, bool]]:
    """Yields spans with their own nanoseconds, and whether they run inside of equal ones."""
    stack: list[list[Any]] = []  # span and the nanoseconds of those in it
    for span in spans:
        while len(stack) > span.depth:
            yield _pop(stack)
        if stack:
            stack[-1][1] += span.end - span.start
        stack.append([span, 0])
    while stack:
        yield _pop(stack)


def _pop(stack: list[list[Any]]) -> tuple[Span, int, bool]:
    span, inner = stack.pop()
    is_inner = any(outer[:2] == span[:2] for outer, _ in stack)
    return span, span.end - span.start - inner, is_inner


def sum_up(spans: Iterable[Span]) -> list[Row]:
    """Returns rows of the spans of one thread, those with the most time of their own first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for span, own, is_inner in _nest(spans):
        row = sums.setdefault((span.category, span.name), [0, 0, 0])
        row[0] += 1
        row[1] += 0 if is_inner else span.end - span.start
        row[2] += own
    rows = [Row(*key, calls, total / 1e9, own / 1e9) for key, (calls, total, own) in sums.items()]
    return sorted(rows, key=lambda row: (-row.own, row.category, row.name))


def cells_of(title: str, rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Returns the texts of a table, with a line of titles."""
    cells: list[tuple[str, ...]] = [(title, 'Kind', 'Calls', 'Total ms', 'Self ms', 'Self %')]
    wall = sum(row.own for row in rows) or 1.0
    for row in rows:
        times = f'{row.total * 1e3:.2f}', f'{row.own * 1e3:.2f}', f'{row.own / wall:.1%}'
        cells.append((row.name, row.category, f'{row.calls:,}', *times))
    return cells


def render(cells: Sequence[tuple[str, ...]]) -> str:
    """Returns a table as lines of text."""
    lines = lines_of(cells)
    lines.insert(1, '-' * len(lines[0]))
    return '\n'.join(lines)
