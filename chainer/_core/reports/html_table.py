"""HTML for notebooks: tables, and texts that unfold."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table. Spaces before the text of a row become an indentation."""
    lines = [f'<tr>{"".join(f"<th>{html.escape(text)}</th>" for text in head)}</tr>']
    for name, *others in rows:
        indent = (len(name) - len(name.lstrip())) * 0.6 + 0.5
        style = f'text-align: left; padding-left: {indent:.1f}em'
        cells = f'<td style="{style}">{html.escape(name.lstrip())}</td>'
        cells += ''.join(f'<td>{html.escape(cell)}</td>' for cell in others)
        lines.append(f'<tr>{cells}</tr>')
    return f'<table>{"".join(lines)}</table>'


def unfolding(title: str, text: str) -> str:
    """Returns a title that shows a text of several lines at a click."""
    return unfolding_html(title, f'<pre>{html.escape(text)}</pre>')


def unfolding_html(title: str, content: str) -> str:
    """Returns a title that shows HTML at a click."""
    head = f'<summary>{html.escape(title)}</summary>'
    return f'<details style="font-family: monospace">{head}{content}</details>'
