"""The table of operators, which the modules in ``operators`` fill.

An operator is a function ``f(node, *inputs, /, *, **attributes)``. Missing inputs are ``None``.
Its signature says how many inputs it takes, and the attributes and their defaults; a file that has
others is refused when it is loaded. It states the differences between versions once, by
``node.opset``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

# What an operator computes with.
VARIABLES = 'variables'  # variables and arrays of any device: it is written in chainer.functions
ARRAYS = 'arrays'  # arrays of NumPy or CuPy
HOST = 'host'  # arrays of NumPy
VALUES = 'values'  # values as they are: sequences, optional values, branches


class Operator(NamedTuple):
    """A row of the table.

    Attributes:
        function: The function.
        takes: One of the words above.
        host: Numbers of inputs that are NumPy arrays anyway, such as a shape.
        statistics: Numbers of inputs that training does not change, such as a running mean or an
            initial state.
        trained: Numbers of inputs that training changes even if they have no dimension.
        any_dtype: Whether variables may have dtypes that :mod:`chainer.functions` cannot compute
            with, because it only moves elements.
        attributes: Names of the attributes.
        required: Those among them that have no default.
        inputs: The least and the largest number of inputs.
    """

    function: Callable[..., Any]
    takes: str
    host: frozenset[int]
    statistics: frozenset[int]
    trained: frozenset[int]
    any_dtype: bool
    attributes: frozenset[str]
    required: frozenset[str]
    inputs: tuple[int, float]


_TABLE: dict[tuple[str, str], Operator] = {}


def operator(
    *names: str,
    takes: str = VARIABLES,
    host: tuple[int, ...] = (),
    statistics: tuple[int, ...] = (),
    trained: tuple[int, ...] = (),
    any_dtype: bool = False,
    domain: str = '',
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function for operators of these names."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        kinds = inspect.Parameter
        parameters = list(inspect.signature(function).parameters.values())[1:]
        inputs = [p for p in parameters if p.kind == kinds.POSITIONAL_ONLY]
        keywords = [p for p in parameters if p.kind == kinds.KEYWORD_ONLY]
        row = Operator(
            function,
            takes,
            frozenset(host),
            frozenset(statistics),
            frozenset(trained),
            any_dtype,
            frozenset(p.name for p in keywords),
            frozenset(p.name for p in keywords if p.default is kinds.empty),
            (
                sum(p.default is kinds.empty for p in inputs),
                float('inf')
                if any(p.kind == kinds.VAR_POSITIONAL for p in parameters)
                else len(inputs),
            ),
        )
        for name in names:
            _TABLE[domain, name] = row
        return function

    return enter


def find(domain: str, name: str) -> Operator | None:
    """The row of an operator, or ``None``."""
    return _TABLE.get((domain, name))


def names() -> list[tuple[str, str]]:
    """Domains and names of all operators of the table."""
    return sorted(_TABLE)
