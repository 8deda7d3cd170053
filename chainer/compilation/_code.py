"""What code of the program names."""

from __future__ import annotations

import dis
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.compilation._trace import describe

if TYPE_CHECKING:
    import types
    from collections.abc import Iterable, Iterator

#: Instructions that read a name of the module, and those that read an attribute.
GLOBAL_LOADS = 'LOAD_GLOBAL', 'LOAD_NAME', 'LOAD_FROM_DICT_OR_GLOBALS'
ATTRIBUTE_LOADS = 'LOAD_ATTR', 'LOAD_METHOD', 'LOAD_SUPER_ATTR'
CLOSURE_LOADS = 'LOAD_DEREF', 'LOAD_CLASSDEREF', 'LOAD_FROM_DICT_OR_DEREF'
#: Those that no plan can repeat.
IMPORTS = 'IMPORT_NAME', 'IMPORT_FROM', 'IMPORT_STAR'
GLOBAL_STORES = 'STORE_GLOBAL', 'DELETE_GLOBAL'
#: Those that change what the call has made itself, or what is compared after the recording.
OTHER_NAMES = 'STORE_NAME', 'DELETE_NAME', 'STORE_ATTR', 'DELETE_ATTR'
#: Names by which code may read attributes that it does not name.
READERS = frozenset(
    (
        'getattr hasattr vars dir __dict__ __getattribute__ __getattr__ __reduce__ __reduce_ex__ '
        '__getstate__ attrgetter methodcaller format format_map'
    ).split()
)


class Instruction(NamedTuple):
    op: str
    arg: Any
    line: int | None


def instructions(code: types.CodeType) -> list[Instruction]:
    found = []
    line: int | None = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.starts_line is not None:
            line = getattr(instruction, 'line_number', None) or (
                instruction.starts_line if type(instruction.starts_line) is int else line
            )
        found.append(Instruction(instruction.opname, instruction.argval, line))
    return found


def names_in(code: types.CodeType) -> Iterator[str]:
    """Returns the names and the texts of code: by these it may read attributes."""
    yield from code.co_names
    yield from _texts(code.co_consts)


def _texts(constants: Iterable[Any]) -> Iterator[str]:
    for part in constants:
        if isinstance(part, str):
            yield part
        elif isinstance(part, (tuple, frozenset)):  # patterns have tuples of attributes
            yield from _texts(part)


def reads_any_attribute(codes: Iterable[types.CodeType], names: set[str]) -> bool:
    """Tells whether code may read attributes that it does not name."""
    # `case Point(x, y)` reads what `__match_args__` of the class names.
    match_class = dis.opmap['MATCH_CLASS']
    return not names.isdisjoint(READERS) or any(
        match_class in code.co_code[::2]  # each second byte is an argument
        for code in codes
    )


def lines_with(codes: Iterable[types.CodeType], ops: tuple[str, ...], name: str) -> str:
    """Names the lines of code that do something with a name, in parentheses."""
    lines = {
        describe(code, i.line): None
        for code in codes
        for i in instructions(code)
        if i.arg == name and i.op in ops
    }
    return f' ({", ".join(lines)})' if lines else ''
