"""Attributes with values that no node can have, whatever its inputs are."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._schemas import rows_of
from .errors import ModelError

_MOST = 2**31 - 1


class _Range(NamedTuple):
    """The least and the largest integer, and whether a list of them may be empty."""

    least: int
    most: int
    may_be_empty: bool


@functools.lru_cache(None)
def _domains() -> dict[tuple[str, str], _Range | tuple[str, ...]]:
    """By operator and attribute, a range of integers or a tuple of words."""
    domains: dict[tuple[str, str], _Range | tuple[str, ...]] = {}
    for line in rows_of('attribute_values.txt'):
        name, values, *ops = line.split()
        least, is_range, most = values.partition('..')
        domain: _Range | tuple[str, ...] = tuple(values.split('|'))
        if is_range:
            domain = _Range(int(least), int(most.rstrip('+') or _MOST), not most.endswith('+'))
        domains.update(((op, name), domain) for op in ops)
    return domains


def check(op_type: str, name: str, value: Any) -> None:
    """Checks an attribute of an operator of ONNX.

    Raises:
        ModelError: It has a value that no node can have. The message names it.
    """
    domain = _domains().get((op_type, name))
    if domain is None:
        return
    if not isinstance(domain, _Range):
        if isinstance(value, str) and value not in domain:
            raise ModelError(f'its attribute {name!r} is {value!r}, not one of {domain}')
        return
    values = value if isinstance(value, Sequence) else [value]
    if not (values or domain.may_be_empty):
        raise ModelError(f'its attribute {name!r} is empty')
    for each in values:
        if isinstance(each, int) and not domain.least <= each <= domain.most:
            raise ModelError(
                f'its attribute {name!r} has the value {each}, not one from {domain.least} to '
                f'{domain.most}'
            )
