"""Where code takes a value that a call has just returned.

A plan may draw random numbers of NumPy again only if the program has done nothing with them but to
send them to ChainerX. So the value may be on the stack only, from the one call to the other, as in
``chainerx.array(numpy.random.rand(3).astype('f'))``, or in a variable that is read once.
"""

from __future__ import annotations

import bisect
import dis
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types

#: How many values besides its arguments a call takes from the stack.
_CALLS = {'CALL_FUNCTION': 1, 'CALL_FUNCTION_KW': 2, 'CALL_METHOD': 2, 'CALL': 2, 'CALL_KW': 3}
_LOADS = (
    'LOAD_CONST LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_GLOBAL LOAD_NAME LOAD_DEREF '
    'LOAD_CLASSDEREF PUSH_NULL'
).split()
_NOTHING = 'NOP', 'CACHE', 'EXTENDED_ARG', 'KW_NAMES', 'PRECALL'
_STORES = 'STORE_FAST', 'STORE_FAST_LOAD_FAST'
#: Functions by which code may read its variables without naming them.
_READERS = {'vars', 'locals', 'dir', 'eval', 'exec'}
_BUILDS = 'BUILD_TUPLE', 'BUILD_LIST'


@functools.lru_cache(maxsize=256)
def _instructions(code: types.CodeType) -> tuple[list[int], list[dis.Instruction]]:
    found = list(dis.get_instructions(code))
    return [instruction.offset for instruction in found], found


def call_at(code: types.CodeType, offset: int) -> int:
    """Returns the number of the instruction that is running, for ``f_lasti`` of its frame."""
    # It may be within what the interpreter keeps behind the instruction.
    return bisect.bisect_right(_instructions(code)[0], offset) - 1


def find_consumer(code: types.CodeType, call: int, above: int = 0) -> int | None:
    """Returns the call that takes the value which another call leaves on the stack.

    A call of the value's method ``astype`` stands for the value. ``None`` if anything but a call
    takes it, or an instruction is unknown, as those of Pythons to come. ``above``: the number of
    values above it on the stack.
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
            taker = find_consumer(code, i)
            return None if taker is None else find_consumer(code, taker)
        elif op in _STORES and not above:
            name = found[i].argval
            return _find_consumer_of(code, name if op == 'STORE_FAST' else name[0])
        elif op in _BUILDS and arg <= above:
            above += 1 - arg
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


def _find_consumer_of(code: types.CodeType, name: str) -> int | None:
    """Returns the call that takes a variable, if code sets it once and reads it once."""
    if not _READERS.isdisjoint(code.co_names):
        return None
    places = []  # instruction, number of values that it puts above the variable
    stores = 0
    for i, instruction in enumerate(_instructions(code)[1]):
        names = instruction.argval if type(instruction.argval) is tuple else (instruction.argval,)
        if name not in names or '_FAST' not in instruction.opname:
            continue
        # Python 3.13 joins instructions in pairs, such as STORE_FAST_LOAD_FAST.
        for k, op in enumerate(instruction.opname.replace('_FAST', '').split('_')[: len(names)]):
            if names[k] == name and op == 'STORE':
                stores += 1
            elif names[k] == name:
                places.append((i, len(names) - 1 - k))
    if len(places) != 1 or stores != 1 or not _is_load(code, places[0][0]):
        return None
    return find_consumer(code, *places[0])


def _is_load(code: types.CodeType, i: int) -> bool:
    return _instructions(code)[1][i].opname in (*_LOADS, 'STORE_FAST_LOAD_FAST')
