"""What code of the program names.

The tables of a code object (``co_names``, ``co_consts``) do not tell globals from attributes, and
:mod:`sys.monitoring` tells that code runs, not what it reads. So the names of opcodes decide, as
:mod:`dis` gives them; a test fails if a Python has opcodes with names that no list here has.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from chainer.compilation._trace import describe

if TYPE_CHECKING:
    import types
    from collections.abc import Collection, Iterable, Iterator

#: Instructions that read a name of the module, and those that read an attribute.
GLOBAL_LOADS = 'LOAD_GLOBAL', 'LOAD_NAME', 'LOAD_FROM_DICT_OR_GLOBALS'
ATTRIBUTE_LOADS = 'LOAD_ATTR', 'LOAD_METHOD', 'LOAD_SUPER_ATTR'
CLOSURE_LOADS = 'LOAD_DEREF', 'LOAD_CLASSDEREF', 'LOAD_FROM_DICT_OR_DEREF'
#: Those that no plan can repeat.
IMPORTS = 'IMPORT_NAME', 'IMPORT_FROM', 'IMPORT_STAR'
GLOBAL_STORES = 'STORE_GLOBAL', 'DELETE_GLOBAL'
#: Those that change what the call has made itself, or what is compared after the recording.
OTHER_NAMES = 'STORE_NAME', 'DELETE_NAME', 'STORE_ATTR', 'DELETE_ATTR'
#: Those that make arguments of a call without computing anything.
_ARGUMENTS = 'LOAD_', 'PUSH_NULL', 'BUILD_LIST', 'BUILD_TUPLE'
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


@functools.lru_cache(maxsize=1024)  # each recording asks for the same code again
def instructions(code: types.CodeType) -> list[Instruction]:
    """Returns the instructions of code, without the code within it."""
    found = []
    line: int | None = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        # Up to Python 3.12 the number of a line, where one starts; then whether one does.
        if instruction.starts_line is not None:
            line = getattr(instruction, 'line_number', None) or (
                instruction.starts_line if type(instruction.starts_line) is int else line
            )
        found.append(Instruction(instruction.opname, instruction.argval, line))
    return found


def global_paths(code: types.CodeType) -> Iterator[tuple[list[str], int | None]]:
    """Returns globals with the attributes that code reads of them, such as ``F, relu``."""
    found = instructions(code)
    for i, (op, name, line) in enumerate(found):
        if op in GLOBAL_LOADS:
            rest = itertools.takewhile(lambda part: part.op in ATTRIBUTE_LOADS, found[i + 1 :])
            yield [name, *[part.arg for part in rest]], line


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
    return not names.isdisjoint(READERS) or any(
        instruction.op == 'MATCH_CLASS' for code in codes for instruction in instructions(code)
    )


def passes_loss_scales(codes: Collection[types.CodeType]) -> bool:
    """Tells whether code reads loss scales of optimizers only to pass them to ``backward``."""
    readers = [code for code in codes if '_loss_scale' in names_in(code)]
    # A function of the program that is given one may do anything with it.
    takes_any = any(
        'loss_scale' in code.co_varnames or code.co_flags & inspect.CO_VARKEYWORDS for code in codes
    )
    return not readers or (not takes_any and all(map(_passes_loss_scales, readers)))


def _passes_loss_scales(code: types.CodeType) -> bool:
    """Looks for ``x.backward(loss_scale=optimizer._loss_scale)``, and for other reads."""
    if '_loss_scale' in _texts(code.co_consts):
        return False
    found = instructions(code)
    for i, (_, name, _) in enumerate(found):
        if name != '_loss_scale':
            continue
        # From the method on, arguments are only loaded and put into lists.
        before = itertools.dropwhile(
            lambda part: part.arg != 'backward' and part.op.startswith(_ARGUMENTS), found[:i][::-1]
        )
        method = next(before, None)
        is_argument = found[i + 1].arg == ('loss_scale',)
        if not is_argument or method is None or method.arg != 'backward':
            return False
    return True


def lines_with(codes: Iterable[types.CodeType], ops: tuple[str, ...], name: str) -> str:
    """Names the lines of code that do something with a name, in parentheses."""
    lines = {
        describe(code, i.line): None
        for code in codes
        for i in instructions(code)
        if i.arg == name and i.op in ops
    }
    return f' ({", ".join(lines)})' if lines else ''
