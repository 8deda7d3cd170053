"""Tables of the costs of functions and links, for the profiling hooks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping


def get_name(function: Any) -> str:
    """Class name of a function; for an old-style function, of the wrapped one."""
    public = getattr(function, '_public_function', None)
    return type(function if public is None else public()).__name__


def choose_unit(value: float, factors: Mapping[str, float]) -> str:
    """Chooses the unit that shows ``value`` best.

    Args:
        value (float): Value in the base unit.
        factors (dict): Factors by unit, from the largest unit to the smallest.

    Returns:
        str: First unit in which the value is at least 1, or the smallest.

    """
    fitting = [unit for unit, factor in factors.items() if value * factor >= 1]
    return fitting[0] if fitting else list(factors)[-1]


def print_table(
    title: str,
    summary: Mapping[str, Mapping[str, Any]],
    columns: Mapping[str, str],
    factors: Mapping[str, float],
    unit: str,
    file: TextIO | None,
) -> None:
    """Prints a summary as a table.

    Args:
        title (str): Heading of the names.
        summary (dict): Dictionaries of figures by name, with ``occurrence`` among them.
        columns (dict): Headings by the keys of the figures. The last one chooses the unit.
        factors (dict): Factors by unit, from the largest unit to the smallest.
        unit (str): Unit, ``'auto'`` to fit the largest figure, or
            ``'auto_foreach'`` to fit each.
        file: Text file; standard output if ``None``.

    """
    if unit not in ('auto', 'auto_foreach', *factors):
        raise KeyError(f'unit must be auto, auto_foreach, {", ".join(factors)}, not {unit!r}')
    if unit == 'auto':
        key = list(columns)[-1]
        unit = choose_unit(max([r[key] for r in summary.values()], default=0), factors)

    def text(value: float) -> str:
        name = choose_unit(value, factors) if unit == 'auto_foreach' else unit
        return f'{value * factors[name]:3.2f}{name}'

    rows = [(title, *columns.values(), 'Occurrence')]
    rows += [
        (name, *[text(record[key]) for key in columns], str(record['occurrence']))
        for name, record in summary.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print(
            '  '.join([cell.rjust(width) for cell, width in zip(row, widths)]),
            file=file or sys.stdout,
        )
