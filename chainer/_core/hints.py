"""Hints in errors for attributes that have another name here.

A hint costs nothing until an attribute is missing.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from chainer._core import names_elsewhere


@functools.cache
def find(owner: str) -> dict[str, str]:
    """Returns the hints for the names of an owner, to be put after messages."""
    return {
        row.theirs: f'; in Chainer: {row.ours}' + (f' ({row.remark})' if row.remark else '')
        for row in names_elsewhere.NAMES
        if row.owner == owner
    }


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
