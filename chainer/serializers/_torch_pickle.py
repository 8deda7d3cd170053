"""What a checkpoint of PyTorch says about its tensors: a pickle, read without running any.

A pickle is a program for a stack machine, which may call any function. The machine here has the
instructions that dictionaries of tensors need, and calls nothing: what would be calls become
descriptions of tensors.
"""

from __future__ import annotations

import pickletools
from typing import IO, Any, NamedTuple

_VALUES = {'NONE': None, 'NEWTRUE': True, 'NEWFALSE': False, 'EMPTY_TUPLE': ()}
_ARGUMENTS = {
    'BININT', 'BININT1', 'BININT2', 'LONG1', 'BINFLOAT', 'BINUNICODE', 'SHORT_BINUNICODE',
    'BINSTRING', 'SHORT_BINSTRING',
}  # fmt: skip
_MARK = object()


class Global(NamedTuple):
    """Name of a class or a function."""

    name: str


class Storage(NamedTuple):
    """Block of elements in a file, which tensors share."""

    kind: str
    key: str
    size: int


class Tensor(NamedTuple):
    """View of a storage; strides and the offset count elements."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def load(file: IO[bytes] | bytes) -> Any:
    """Reads the next pickle of a file.

    Args:
        file: File that holds dictionaries, lists, tuples, numbers, texts and tensors.

    Raises:
        ValueError: There is something else.
        IndexError, KeyError, TypeError: It is no pickle.

    """
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(file):
        match opcode.name:
            case name if name in _VALUES:
                stack.append(_VALUES[name])
            case name if name in _ARGUMENTS:
                stack.append(argument)
            case 'PROTO':
                pass
            case 'STOP':
                return stack.pop()
            case 'MARK':
                stack.append(_MARK)
            case 'EMPTY_DICT':
                stack.append({})
            case 'EMPTY_LIST':
                stack.append([])
            case 'GLOBAL':
                stack.append(Global(argument.replace(' ', '.')))
            case 'BINPUT' | 'LONG_BINPUT':
                memo[argument] = stack[-1]
            case 'BINGET' | 'LONG_BINGET':
                stack.append(memo[argument])
            case 'TUPLE':
                stack.append(tuple(_pop_to_mark(stack)))
            case 'TUPLE1' | 'TUPLE2' | 'TUPLE3' as name:
                size = int(name[-1])
                stack[-size:] = [tuple(stack[-size:])]
            case 'APPEND' | 'APPENDS' as name:
                items = _pop_to_mark(stack) if name == 'APPENDS' else [stack.pop()]
                stack[-1].extend(items)
            case 'SETITEM' | 'SETITEMS' as name:
                items = _pop_to_mark(stack) if name == 'SETITEMS' else [stack.pop(-2), stack.pop()]
                stack[-1].update(zip(items[::2], items[1::2]))
            case 'BINPERSID':
                stack.append(_make_storage(*stack.pop()))
            case 'REDUCE':
                arguments = stack.pop()
                stack.append(_make(stack.pop(), arguments))
            case 'BUILD':
                stack.pop()  # attributes of an ordered dictionary
            case name:
                raise ValueError(f'it holds more than tensors, which take the instruction {name}')
    raise EOFError('the pickle has no end')


def _pop_to_mark(stack):
    start = len(stack) - 1
    while stack[start] is not _MARK:
        start -= 1
    items = stack[start + 1 :]
    del stack[start:]
    return items


def _make_storage(tag, kind, key, location, size, view=None):
    if tag != 'storage' or not isinstance(kind, Global) or view is not None:
        raise ValueError('the pickle has something else than a storage')
    return Storage(kind.name, str(key), _check_size(size))


def _make(function, arguments):
    """Returns what a call gives; only those that make tensors are known."""
    match function:
        case Global('collections.OrderedDict') if not arguments:
            return {}
        case Global('torch._utils._rebuild_tensor_v2' | 'torch._utils._rebuild_tensor'):
            storage, offset, shape, strides, *_ = arguments
            if not isinstance(storage, Storage) or len(shape) != len(strides):
                raise ValueError('the pickle has a tensor without a storage')
            sizes = tuple(map(_check_size, shape)), tuple(map(_check_size, strides))
            return Tensor(storage, _check_size(offset), *sizes)
        case Global('torch._utils._rebuild_parameter'):
            return arguments[0]
        case Global(name):
            raise ValueError(f'it holds an object of {name}, not only tensors')
        case _:
            raise ValueError('the pickle calls a value')


def _check_size(size):
    if type(size) is not int or size < 0:
        raise ValueError(f'{size!r} is no size')
    return size
