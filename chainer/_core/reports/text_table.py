"""Tables as text for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def lines_of(cells: Sequence[Sequence[str]]) -> list[str]:
    """Returns a line for each row: two columns of text, and others of numbers, aligned right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        texts = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
        texts += [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
        lines.append('  '.join(texts))
    return lines
