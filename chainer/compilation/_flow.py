"""Where code takes a value that a call has just returned.

A plan may draw random numbers of NumPy again only if the program has done nothing with them but to
send them to ChainerX. So the value may be on the stack only, from the one call to the other, as in
``chainerx.array(numpy.random.rand(3).astype('f'))``, or in a variable that is read once.
"""

from __future__ import annotations

import bisect
import dis
import functools
import inspect
import re
import sys
from typing import TYPE_CHECKING

from chainer.compilation._trace import is_program_code

if TYPE_CHECKING:
    import types

#: How many values besides its arguments a call takes from the stack.
_CALLS = {'CALL_FUNCTION': 1, 'CALL_FUNCTION_KW': 2, 'CALL_METHOD': 2, 'CALL': 2, 'CALL_KW': 3}
_LOADS = (
    'LOAD_CONST LOAD_SMALL_INT LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW '
    'LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_GLOBAL LOAD_NAME LOAD_DEREF LOAD_CLASSDEREF PUSH_NULL'
).split()
_NOTHING = 'NOP', 'CACHE', 'EXTENDED_ARG', 'KW_NAMES', 'PRECALL', 'NOT_TAKEN'
_STORES = 'STORE_FAST', 'STORE_FAST_LOAD_FAST'
#: Functions by which code may read its variables without naming them.
_READERS = {'vars', 'locals', 'dir', 'eval', 'exec'}
_BUILDS = 'BUILD_TUPLE', 'BUILD_LIST'
_JUMPS = {*dis.hasjrel, *dis.hasjabs}
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
#: What depends on nothing but the form of an array.
_OF_FORM = 'shape', 'ndim', 'dtype', 'size', 'nbytes', 'itemsize', 'strides'


@functools.lru_cache(maxsize=256)
def _instructions(code: types.CodeType) -> tuple[list[int], list[dis.Instruction]]:
    found = list(dis.get_instructions(code))
    return [instruction.offset for instruction in found], found


def call_at(code: types.CodeType, offset: int) -> int:
    """Returns the number of the instruction that is running, for ``f_lasti`` of its frame."""
    # It may be within what the interpreter keeps behind the instruction.
    return bisect.bisect_right(_instructions(code)[0], offset) - 1


def is_handled(outermost: types.CodeType) -> bool:
    """Tells whether an error would meet a handler of the program, up to a frame of some code."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not outermost:
        if is_program_code(frame.f_code) and _has_handler(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


def _has_handler(code: types.CodeType, offset: int) -> bool:
    entries = getattr(dis.Bytecode(code), 'exception_entries', None)
    if entries is None:  # Python 3.10, where instructions set handlers up
        return any(found.opname.startswith('SETUP_') for found in _instructions(code)[1])
    return any(entry.start <= offset < entry.end for entry in entries)


def find_consumer(
    code: types.CodeType, call: int, above: int = 0, *, may_cast: bool = True
) -> int | None:
    """Returns the call that takes the value which another call leaves on the stack.

    A call of the value's method ``astype`` stands for the value, but only one: of two, the second
    does not tell what the first has rounded. ``None`` if anything but a call takes the value, or an
    instruction is unknown, as those of Pythons to come. ``above``: the number of values above it on
    the stack.
    """
    _, found = _instructions(code)
    for i in range(call + 1, len(found)):
        op, arg = found[i].opname, found[i].arg or 0
        if op in _NOTHING:
            continue
        if op in _LOADS or (op in ('LOAD_ATTR', 'LOAD_METHOD') and above):
            above += dis.stack_effect(found[i].opcode, found[i].arg)
        elif op in ('LOAD_ATTR', 'LOAD_METHOD') and found[i].argval == 'astype':
            # The method and the value lie as one below its arguments.
            taker = find_consumer(code, i) if may_cast else None
            return None if taker is None else find_consumer(code, taker, may_cast=False)
        elif op in _STORES and not above:
            name = found[i].argval
            return _find_consumer_of(code, name if op == 'STORE_FAST' else name[0], may_cast)
        elif op in _BUILDS:
            above = max(above + 1 - arg, 0)  # the container stands for the value within it
        elif op.startswith('BINARY_') and above >= 2:
            above -= 1
        elif op in _CALLS:
            taken = arg + _CALLS[op]
            if taken > above:
                return i
            above += 1 - taken
        else:
            return None
    return None


def is_call_of(code: types.CodeType, call: int, name: str) -> bool:
    """Tells whether a call is that of an attribute of a name, and not of what calls it in turn."""
    found = _instructions(code)[1][:call]
    return any(
        instruction.argval == name and find_consumer(code, i) == call
        for i, instruction in enumerate(found)
    )


@functools.lru_cache(maxsize=256)
def find_senders(
    code: types.CodeType, names: tuple[str, ...], *, has_len: bool
) -> dict[int, list[str]] | str:
    """Returns the calls that take parameters, each with its parameters in order.

    Before, code may read nothing but the form of an array. It may give the variable another value,
    if it surely does so. Otherwise the name of the parameter is returned. ``has_len``: whether
    ``len`` is Python's own.
    """
    found: list[tuple[int, int, int, str]] = []  # call, instruction, place in it, parameter
    for name in names:
        uses = _find_uses_of(code, name, has_len)
        if uses is None:
            return name
        found += [(*use, name) for use in uses]
    senders: dict[int, list[str]] = {}
    starts: dict[int, int] = {}
    for call, i, _, name in sorted(found):
        # A call in a loop may be of another function each time.
        if _is_in_loop(code, call):
            return name
        taken = senders.setdefault(call, [])
        taken.append(name)
        start = starts.setdefault(call, i)
        # It may take another variable that has one of them: in what order is not clear.
        if len(taken) > 1 and _has_store(code, start + 1, call):
            return name
    return senders


def _find_uses_of(
    code: types.CodeType, name: str, has_len: bool
) -> list[tuple[int, int, int]] | None:
    """Returns where code takes a parameter: the call, the instruction, and the place in it."""
    if (
        name in code.co_cellvars
        or code.co_flags & _SUSPENDED
        or not _READERS.isdisjoint(code.co_names)
    ):
        return None
    places, stores = _uses_of(code, name)
    if stores and not _is_straight(code, min(stores)):
        return None
    uses = []
    for i, above in places:
        if stores and i >= min(stores):
            continue
        if not _is_load(code, i):
            return None
        if above or not _reads_form(code, i, has_len):
            call = find_consumer(code, i, above)
            if call is None:
                return None
            uses.append((call, i, -above))
    return uses


def _reads_form(code: types.CodeType, i: int, has_len: bool) -> bool:
    """Tells whether nothing but the form is read of the value that an instruction loads."""
    _, found = _instructions(code)
    after = [part for part in found[i + 1 : i + 8] if part.opname not in _NOTHING]
    if not after or after[0].opname in ('LOAD_ATTR', 'LOAD_METHOD'):
        return bool(after) and after[0].argval in _OF_FORM
    before = [
        part for part in found[max(0, i - 4) : i] if part.opname not in (*_NOTHING, 'PUSH_NULL')
    ]
    return (
        has_len
        and found[i].opname.startswith('LOAD_FAST')
        and type(found[i].argval) is str
        and bool(before)
        and (before[-1].opname, before[-1].argval) == ('LOAD_GLOBAL', 'len')
        and after[0].opname in _CALLS
        and after[0].arg == 1
    )


def _is_straight(code: types.CodeType, end: int) -> bool:
    """Tells whether code always runs from its start up to an instruction, and once."""
    offsets, found = _instructions(code)
    # Up to Python 3.10, handlers of exceptions are set by instructions with a target.
    handled = getattr(dis.Bytecode(code), 'exception_entries', ())
    return all(i > end and target > end for i, target in _jumps(code)) and all(
        entry.start > offsets[end] for entry in handled
    )


def _is_in_loop(code: types.CodeType, i: int) -> bool:
    return any(target <= i <= source for source, target in _jumps(code))


def _jumps(code: types.CodeType) -> list[tuple[int, int]]:
    """Returns the instructions that may jump, and where to."""
    offsets, found = _instructions(code)
    return [
        (i, bisect.bisect_left(offsets, instruction.argval))
        for i, instruction in enumerate(found)
        if instruction.opcode in _JUMPS
    ]


def _has_store(code: types.CodeType, start: int, end: int) -> bool:
    return any('STORE' in part.opname for part in _instructions(code)[1][start:end])


def _find_consumer_of(code: types.CodeType, name: str, may_cast: bool) -> int | None:
    """Returns the call that takes a variable, if code sets it once and reads it once."""
    if not _READERS.isdisjoint(code.co_names):
        return None
    places, stores = _uses_of(code, name)
    if len(places) != 1 or len(stores) != 1 or not _is_load(code, places[0][0]):
        return None
    return find_consumer(code, *places[0], may_cast=may_cast)


def _uses_of(code: types.CodeType, name: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Returns where code reads a variable, with the values put above it, and where it sets it."""
    places = []
    stores = []
    for i, instruction in enumerate(_instructions(code)[1]):
        names = instruction.argval if type(instruction.argval) is tuple else (instruction.argval,)
        if name not in names or '_FAST' not in instruction.opname:
            continue
        # Python 3.13 joins instructions in pairs, such as STORE_FAST_LOAD_FAST. Python 3.14 has
        # loads that borrow a reference, such as LOAD_FAST_BORROW.
        ops = re.findall('LOAD|STORE|DELETE', instruction.opname)
        for k, op in enumerate(ops[: len(names)]):
            if names[k] == name and op == 'STORE':
                stores.append(i)
            elif names[k] == name:
                places.append((i, len(names) - 1 - k))
    return places, stores


def _is_load(code: types.CodeType, i: int) -> bool:
    return _instructions(code)[1][i].opname in (*_LOADS, 'STORE_FAST_LOAD_FAST')
