"""Hints in errors for attributes and arguments that have another name here.

A hint costs nothing until an attribute is missing. One for an argument costs a look at the keywords
of a call, so that constructors have them, and functions that look at their keywords anyway. Links
add those for the functions that they call, and for themselves, to the error of Python.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from chainer._core.names import names_elsewhere
from chainer._core.names.elsewhere.arguments import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer._core.names.elsewhere.row import Name

_T = TypeVar('_T', bound=type)
_UNEXPECTED = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")


@functools.cache
def find(owner: str) -> dict[str, str]:
    """Returns the hints for the names of an owner, to be put after messages."""
    return {row.theirs: _text(row) for row in names_elsewhere.NAMES if row.owner == owner}


def _text(row: Name) -> str:
    return f'; in Chainer: {row.ours}' + (f' ({row.remark})' if row.remark else '')


def of_arguments(owner: str, names: Iterable[str]) -> str:
    """Returns what to put after the message that a function or a class has no such arguments.

    Args:
        owner: Name of the function or the class.
        names: Names of the arguments.

    """
    rows = [row for row in ARGUMENTS if owner in row.owner.split()]
    return ''.join(_text(row) for row in rows if row.theirs in names)


def explain_keyword(error: TypeError) -> None:
    """Adds the hint to an error of Python for an argument that a function lacks.

    Does nothing if the error is another one, or has the hint.
    """
    found = _UNEXPECTED.match(str(error))
    if found is None:
        return
    owner, _, function = found[1].rpartition('.')
    hint = of_arguments(owner if function == 'forward' else function, [found[2]])
    if hint:  # in place of a guess of Python
        error.args = (found[0] + hint,)


def explain_arguments(cls: _T) -> _T:
    """Decorates a class: its constructor has hints for arguments that it lacks.

    Args:
        cls: Class that the table of arguments names.

    """
    init: Any = cls.__init__  # type: ignore[misc]
    names = {row.theirs for row in ARGUMENTS if cls.__name__ in row.owner.split()}
    names -= inspect.signature(init).parameters.keys()
    assert names, cls

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs and not names.isdisjoint(kwargs):
            unexpected = sorted(names.intersection(kwargs))
            raise TypeError(
                f'{cls.__name__}() got an unexpected keyword argument {unexpected[0]!r}'
                f'{of_arguments(cls.__name__, unexpected[:1])}'
            )
        init(self, *args, **kwargs)

    cls.__init__ = __init__  # type: ignore[misc]
    return cls


def of_module(name: str, attribute: str) -> AttributeError:
    """Makes the error for a missing attribute of a module."""
    hint = find(name).get(attribute, '')
    message = f'module {name!r} has no attribute {attribute!r}{hint}'
    return AttributeError(message, name=attribute, obj=sys.modules.get(name))


class _Elsewhere:
    """Attribute that a class lacks: its error has a hint.

    ``__getattr__`` would do the same, but it slows down all attributes of a class.
    """

    __slots__ = ('_hint', '_name', '_owner')

    def __init__(self, owner: type, name: str, hint: str) -> None:
        self._owner = owner
        self._name = name
        self._hint = hint

    def __get__(self, obj: Any, cls: type) -> Any:
        name, bases = self._name, cls.__mro__
        if any(name in vars(base) for base in bases[bases.index(self._owner) + 1 :]):
            return getattr(super(self._owner, cls if obj is None else obj), name)
        what = f'type object {cls.__name__!r}' if obj is None else f'{cls.__name__!r} object'
        message = f'{what} has no attribute {name!r}{self._hint}'
        raise AttributeError(message, name=name, obj=cls if obj is None else obj)


def attach(cls: type, label: str) -> None:
    """Gives hints to a class.

    Args:
        cls: Class.
        label: Owner of its names in the table.

    """
    hints = find(label)
    for name, hint in hints.items():
        assert not hasattr(cls, name)
        setattr(cls, name, _Elsewhere(cls, name, hint))

    def __dir__(self: Any) -> list[str]:
        missing = {name for name in hints if not hasattr(self, name)}
        return [name for name in object.__dir__(self) if name not in missing]

    cls.__dir__ = __dir__  # type: ignore[assignment, method-assign]
