"""The table of operators, which the modules in ``_operators`` fill.

The function of an operator of ONNX has the inputs as parameters, in the order of the newest opset,
and after ``*`` those attributes that it uses. What is left out is ``None``, or has the default of
the model's opset; ``schemas.txt`` says what inputs and attributes there are. An attribute of old
opsets that newer ones have as an input, such as the axes of ``Squeeze``, comes as this input. A
function that states a difference between opsets itself has ``node`` as its first parameter.

The function of another domain's operator is ``f(node, *inputs, /, *, **attributes)``: its
signature says how many inputs there are, and the attributes and their defaults.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._schemas import Attribute, Schema, schema_at, schemas_of
from .errors import ModelError

if TYPE_CHECKING:
    from ._plan import Node

# What an operator computes with.
VARIABLES = 'variables'  # variables and arrays of any device: it is written in chainer.functions
ARRAYS = 'arrays'  # arrays of NumPy or CuPy
HOST = 'host'  # arrays of NumPy
VALUES = 'values'  # values as they are: sequences, optional values, branches

_PARAMETER = inspect.Parameter


class Operator(NamedTuple):
    """A row of the table.

    Attributes:
        function: The function, which takes the node, the inputs and the attributes.
        takes: One of the words above.
        host: Numbers of inputs that are NumPy arrays anyway, such as a shape.
        statistics: Numbers of inputs that training does not change, such as a running mean or an
            initial state.
        trained: Numbers of inputs that training changes even if they have no dimension.
        any_dtype: Whether variables may have dtypes that :mod:`chainer.functions` cannot compute
            with, because it only moves elements.
        schemas: The forms of the operator, the oldest first.
        arity: How many inputs the function has without defaults, as far as they are single.
        keywords: Attributes that the function takes; ``None`` for all.
    """

    function: Callable[..., Any]
    takes: str
    host: frozenset[int] = frozenset()
    statistics: frozenset[int] = frozenset()
    trained: frozenset[int] = frozenset()
    any_dtype: bool = False
    schemas: tuple[Schema, ...] = ()
    arity: int = 0
    keywords: frozenset[str] | None = None

    def check(self, node: Node, given: Mapping[str, Any]) -> None:
        """Raises an error if a node has other inputs or attributes than the operator."""
        least = min(each.least for each in self.schemas)
        most = max(each.most for each in self.schemas)
        if not least <= len(node.inputs) <= most:
            raise ModelError(
                f'it has {len(node.inputs)} inputs, and the operator takes {least} to {most}'
            )
        schema = schema_at(self.schemas, node.opset)
        for i in range(int(least)):
            if i not in schema.optional and not node.has(i):
                raise ModelError(f'its input {i} is missing')
        unknown = given.keys() - {name for each in self.schemas for name in each.attributes}
        if unknown:
            raise ModelError(f'there is no attribute {sorted(unknown)[0]!r}')
        for name, attribute in sorted(schema.attributes.items()):
            place = self.input_of(name)
            is_used = self.keywords is None or name in self.keywords or place is not None
            if attribute.required and is_used and name not in given and not node.has(place):
                raise ModelError(f'its attribute {name!r} is missing')

    def input_of(self, attribute: str) -> int | None:
        """The number of the input that an attribute of old opsets is in newer ones."""
        for schema in self.schemas:
            names = [name.lower() for name in schema.inputs]
            if attribute.lower() in names:
                return names.index(attribute.lower())
        return None

    def arguments(
        self, opset: int, given: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[int, np.ndarray[Any, Any]]]:
        """Attributes that the function takes, with defaults; and those that are inputs to it."""
        known = {name: a for schema in self.schemas for name, a in schema.attributes.items()}
        for name, attribute in schema_at(self.schemas, opset).attributes.items():
            if attribute.default is not None:
                known[name] = attribute
        places = {name: self.input_of(name) for name in given}
        keywords = {
            name: given.get(name, attribute.default)
            for name, attribute in known.items()
            if self.keywords is None or name in self.keywords
        }
        inputs = {
            place: np.array(given[name], np.int64 if known[name].kind in 'iI' else np.float32)
            for name, place in places.items()
            if place is not None
        }
        return keywords, inputs


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
        numbers = frozenset(host), frozenset(statistics), frozenset(trained)
        row = Operator(function, takes, *numbers, any_dtype)
        for name in names:
            schemas = schemas_of(domain, name)
            _TABLE[domain, name] = _of_onnx(row, schemas) if schemas else _of_signature(row)
        return function

    return enter


def operators(functions: Mapping[str, Callable[..., Any]], **options: Any) -> None:
    """Enters functions by the names of their operators, which spaces separate."""
    for names, function in functions.items():
        operator(*names.split(), **options)(function)


def _of_onnx(row: Operator, schemas: tuple[Schema, ...]) -> Operator:
    parameters = list(inspect.signature(row.function).parameters.values())
    function = row.function
    if parameters and parameters[0].name == 'node':
        del parameters[0]
    else:
        function = functools.partial(_without_node, function)
    kinds = [p.kind for p in parameters]
    keywords = frozenset(p.name for p in parameters if p.kind == _PARAMETER.KEYWORD_ONLY)
    return row._replace(
        function=function,
        schemas=schemas,
        arity=sum(
            k in (_PARAMETER.POSITIONAL_ONLY, _PARAMETER.POSITIONAL_OR_KEYWORD) for k in kinds
        ),
        keywords=None if _PARAMETER.VAR_KEYWORD in kinds else keywords,
    )


def _without_node(function: Callable[..., Any], node: Any, *inputs: Any, **attributes: Any) -> Any:
    return function(*inputs, **attributes)


def _of_signature(row: Operator) -> Operator:
    parameters = list(inspect.signature(row.function).parameters.values())[1:]
    inputs = [p for p in parameters if p.kind == _PARAMETER.POSITIONAL_ONLY]
    any_number = any(p.kind == _PARAMETER.VAR_POSITIONAL for p in parameters)
    attributes = {
        p.name: Attribute('', p.default is p.empty, None if p.default is p.empty else p.default)
        for p in parameters
        if p.kind == _PARAMETER.KEYWORD_ONLY
    }
    least = sum(p.default is p.empty for p in inputs)
    most = float('inf') if any_number else len(inputs)
    return row._replace(
        schemas=(Schema(1, (), (), frozenset(), least, most, attributes),), arity=least
    )


def find(domain: str, name: str) -> Operator | None:
    """The row of an operator, or ``None``."""
    return _TABLE.get((domain, name))


def names() -> list[tuple[str, str]]:
    """Domains and names of all operators of the table."""
    return sorted(_TABLE)
