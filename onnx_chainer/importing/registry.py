"""The table of operators, which the modules in ``_operators`` fill.

The function of an operator of ONNX has the inputs as parameters, in the order of the newest opset,
and after ``*`` those attributes that it uses. What is left out is ``None``, or has the default of
the model's opset; ``schemas.txt`` says what inputs and attributes there are. An attribute of old
opsets that newer ones have as an input, such as the axes of ``Squeeze``, comes as this input. A
function that states a difference between opsets itself has ``node`` as its first parameter.

Inputs that a row calls scalars or lists come as Python's. A parameter of a missing one has its own
default, as has one of an attribute that only some of the operators of a function know.

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
from . import _values as v
from .errors import ModelError

if TYPE_CHECKING:
    from ._plan import Node

# What an operator computes with.
VARIABLES = 'variables'  # variables and arrays of any device: it is written in chainer.functions
ARRAYS = 'arrays'  # arrays of NumPy or CuPy
HOST = 'host'  # arrays of NumPy
VALUES = 'values'  # values as they are: sequences, optional values, branches

_PARAMETER = inspect.Parameter


class Form(NamedTuple):
    """What an operator takes in an opset.

    Attributes:
        least: The least number of inputs, in any opset.
        most: The largest number of inputs, in any opset.
        needed: Numbers of inputs that must be there.
        names: Names of the attributes, in any opset.
        required: Attributes that must be there.
        defaults: Attributes that the function takes, and their defaults.
        places: For attributes that newer opsets have as an input, the number of this, and a dtype.
    """

    least: int
    most: float
    needed: tuple[int, ...]
    names: frozenset[str]
    required: tuple[str, ...]
    defaults: dict[str, Any]
    places: dict[str, tuple[int, Any]]


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
        partial: Whether the function gives ``NotImplemented`` where the standard's definition of
            the operator has to run.
        takes_node: Whether the function takes the node before the inputs.
        schemas: The forms of the operator in ONNX, the oldest first.
        forms: By opset, what :meth:`form` made of them.
        arity: How many inputs the function has without defaults, as far as they are single.
        keywords: Attributes that the function takes; ``None`` for all.
    """

    function: Callable[..., Any]
    takes: str
    host: frozenset[int] = frozenset()
    statistics: frozenset[int] = frozenset()
    trained: frozenset[int] = frozenset()
    any_dtype: bool = False
    partial: bool = False
    takes_node: bool = True
    schemas: tuple[Schema, ...] = ()
    forms: dict[int, Form] = {}
    arity: int = 0
    keywords: frozenset[str] | None = None

    def check(self, node: Node, given: Mapping[str, Any]) -> None:
        """Raises an error if a node has other inputs or attributes than the operator."""
        form = self.form(node.opset)
        if not form.least <= len(node.inputs) <= form.most:
            raise ModelError(
                f'it has {len(node.inputs)} inputs, and the operator takes {form.least} to '
                f'{form.most}'
            )
        for i in form.needed:
            if not node.has(i):
                raise ModelError(f'its input {i} is missing')
        unknown = given.keys() - form.names
        if unknown:
            raise ModelError(f'there is no attribute {sorted(unknown)[0]!r}')
        for name in form.required:
            if name not in given and not (name in form.places and node.has(form.places[name][0])):
                raise ModelError(f'its attribute {name!r} is missing')

    def arguments(
        self, opset: int, given: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[int, np.ndarray[Any, Any]]]:
        """Attributes that the function takes, with defaults; and those that are inputs to it."""
        form = self.form(opset)
        keywords = form.defaults | {k: x for k, x in given.items() if k in form.defaults}
        places = {name: form.places[name] for name in given if name in form.places}
        return keywords, {i: np.array(given[name], dtype) for name, (i, dtype) in places.items()}

    def form(self, opset: int) -> Form:
        """What the operator takes in an opset. What that leaves open is as in another opset."""
        if opset not in self.forms:
            self.forms[opset] = self._form(schema_at(self.schemas, opset))
        return self.forms[opset]

    def _form(self, schema: Schema) -> Form:
        known = {name: a for each in self.schemas for name, a in each.attributes.items()}
        known |= {n: a for n, a in schema.attributes.items() if a.default is not None}
        places = self._places(known)
        taken = known.keys() if self.keywords is None else self.keywords
        required = (name for name, a in sorted(schema.attributes.items()) if a.required)
        least = min(each.least for each in self.schemas)
        return Form(
            least,
            max(each.most for each in self.schemas),
            tuple(i for i in range(least) if i not in schema.optional),
            frozenset(known),
            tuple(name for name in required if name in taken or name in places),
            {name: a.default for name, a in known.items() if name in taken},
            places,
        )

    def _places(self, known: dict[str, Attribute]) -> dict[str, tuple[int, Any]]:
        inputs = {
            name.lower(): i for each in reversed(self.schemas) for i, name in enumerate(each.inputs)
        }
        return {
            name: (inputs[name.lower()], np.int64 if attribute.kind in 'iI' else np.float32)
            for name, attribute in known.items()
            if name.lower() in inputs
        }


_TABLE: dict[tuple[str, str], Operator] = {}


def operator(
    *names: str,
    takes: str = VARIABLES,
    host: tuple[int, ...] = (),
    scalars: tuple[int, ...] = (),
    lists: tuple[int, ...] = (),
    statistics: tuple[int, ...] = (),
    trained: tuple[int, ...] = (),
    any_dtype: bool = False,
    partial: bool = False,
    domain: str = '',
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function for operators of these names.

    Inputs ``scalars`` come as a Python number, ``lists`` as a list of ints; both are on the host.
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        kinds = dict.fromkeys(scalars, v.scalar) | dict.fromkeys(lists, v.ints)
        numbers = frozenset((*host, *kinds)), frozenset(statistics), frozenset(trained)
        given = _given_python_values(function, kinds) if kinds else function
        row = Operator(given, takes, *numbers, any_dtype, partial)
        for name in names:
            schemas = schemas_of(domain, name)
            _TABLE[domain, name] = _of_onnx(row, schemas) if schemas else _of_signature(row)
        return function

    return enter


def _given_python_values(
    function: Callable[..., Any], kinds: Mapping[int, Callable[[Any], Any]]
) -> Callable[..., Any]:
    """``function`` whose inputs of some numbers come as Python values, or as their defaults."""
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0].name == 'node'
    defaults = [None if p.default is p.empty else p.default for p in parameters[first:]]

    @functools.wraps(function)
    def call(*arguments: Any, **attributes: Any) -> Any:
        values = list(arguments)
        for i, convert in kinds.items():
            if i + first < len(values):
                x = values[i + first]
                values[i + first] = defaults[i] if x is None else convert(x)
        return function(*values, **attributes)

    return call


def operators(functions: Mapping[str, Callable[..., Any]], **options: Any) -> None:
    """Enters functions by the names of their operators, which spaces separate."""
    for names, function in functions.items():
        operator(*names.split(), **options)(function)


def _of_onnx(row: Operator, schemas: tuple[Schema, ...]) -> Operator:
    parameters = list(inspect.signature(row.function).parameters.values())
    takes_node = bool(parameters) and parameters[0].name == 'node'
    kinds = [p.kind for p in parameters[takes_node:]]
    known = {name for schema in schemas for name in schema.attributes}
    keywords = frozenset(
        p.name
        for p in parameters
        if p.kind == _PARAMETER.KEYWORD_ONLY and (p.default is p.empty or p.name in known)
    )
    return row._replace(
        takes_node=takes_node,
        schemas=schemas,
        forms={},
        arity=sum(
            k in (_PARAMETER.POSITIONAL_ONLY, _PARAMETER.POSITIONAL_OR_KEYWORD) for k in kinds
        ),
        keywords=None if _PARAMETER.VAR_KEYWORD in kinds else keywords,
    )


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
