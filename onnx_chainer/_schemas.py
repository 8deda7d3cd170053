"""What ONNX says of its operators: the rows of ``schemas.txt``, which explains its form.

``schemas_of_onnxruntime.txt`` has those that ONNX Runtime adds.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

_ONE = {'i': int, 'f': float, 's': str}


class Attribute(NamedTuple):
    """An attribute: the letter of its type, whether nodes must have it, and its default."""

    kind: str
    required: bool
    default: Any


class Schema(NamedTuple):
    """A form of an operator.

    Attributes:
        since: The first opset that has it.
        inputs: Names of the inputs.
        types: Letters of the element types of each; empty for all.
        optional: Numbers of those that may be missing.
        least: The least number of inputs.
        most: The largest number of inputs, which may be infinite.
        attributes: By name.
    """

    since: int
    inputs: tuple[str, ...]
    types: tuple[str, ...]
    optional: frozenset[int]
    least: int
    most: float
    attributes: dict[str, Attribute]


def rows_of(table: str) -> list[str]:
    """The lines of a file of this package that are no comments."""
    text = Path(__file__).with_name(table).read_text()
    return [line for line in text.splitlines() if not line.startswith('#')]


@functools.lru_cache(None)
def _lines() -> dict[str, list[str]]:
    """The lines of the files by operator."""
    lines: dict[str, list[str]] = {}
    for line in [*rows_of('schemas.txt'), *rows_of('schemas_of_onnxruntime.txt')]:
        name, _, rest = line.partition(' ')
        lines.setdefault(name, []).append(rest)
    return lines


def _attribute(token: str) -> tuple[str, Attribute]:
    token, has_default, text = token.partition('=')
    name, _, kind = token.partition(':')
    required, kind = kind.endswith('!'), kind[0]
    default: Any = None
    if has_default:
        one = _ONE[kind.lower()]
        default = one(text) if kind.islower() else [one(each) for each in text.split(',')]
    return name, Attribute(kind, required, default)


def _schema(line: str) -> Schema:
    since, *tokens = line.split()
    inputs = [token.partition('/') for token in tokens if ':' not in token]
    variadic = inputs[-1][0].partition('*') if inputs else ('', '', '')
    single = sum(name[-1] not in '?' and '*' not in name for name, _, _ in inputs)
    return Schema(
        int(since),
        tuple(name.rstrip('?').partition('*')[0] for name, _, _ in inputs),
        tuple(types for _, _, types in inputs),
        frozenset(i for i, (name, _, _) in enumerate(inputs) if name[-1] == '?'),
        single + int(variadic[2] or 0),
        float('inf') if variadic[1] else len(inputs),
        dict(_attribute(token) for token in tokens if ':' in token),
    )


@functools.lru_cache(None)
def schemas_of(domain: str, name: str) -> tuple[Schema, ...]:
    """The forms of an operator, the oldest first; none if ONNX does not have it."""
    return tuple(map(_schema, _lines().get(f'{domain}.{name}'.lstrip('.'), ())))


def schema_at(schemas: tuple[Schema, ...], opset: int) -> Schema:
    """The form in an opset; the oldest one for those before it."""
    return next((each for each in reversed(schemas) if each.since <= opset), schemas[0])
