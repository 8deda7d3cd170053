"""Which objects come from this package, and which a program has put in their place."""

from __future__ import annotations

import functools
import types
from typing import Any

from chainer import link
from chainer.compilation._trace import is_framework_code, is_framework_module
from chainer.compilation._trees import is_constant
from chainer.variable import Variable
from chainerx import _internal

_METHODS = types.FunctionType, property, staticmethod, classmethod
#: Types of attributes that matter whatever their names: this package reads links and variables, and
#: functions within the others cannot be told from those that ran.
READ_UNNAMED = (
    link.Link, Variable,
    property, staticmethod, classmethod, functools.partial, types.MethodType,
)  # fmt: skip
_members: dict[type, Members] = {}


def is_own_object(value: Any) -> bool:
    """Tells whether an object comes from this package."""
    kind = type(value)
    if kind in (staticmethod, classmethod):
        return is_own_object(value.__func__)
    if kind is property:
        return all(is_own_object(part) for part in (value.fget, value.fset, value.fdel))
    if kind is types.FunctionType:
        return is_framework_code(value.__code__)
    if issubclass(kind, type):
        return is_framework_module(value.__module__)
    is_found = value is None or kind is types.ModuleType
    return is_found or is_framework_module(kind.__module__)


def is_patched(kind: type) -> bool:
    """Tells whether a program has replaced methods of this package's classes."""
    # Plans run kernels instead of these methods, so a replaced one would not be called.
    return any(
        members_of(cls).has_foreign for cls in kind.__mro__ if is_framework_module(cls.__module__)
    )


def members_of(cls: type) -> Members:
    """Returns what recordings look for among the members of a class of this package."""
    # Each recording asks for the same few classes: to look at their hundreds of members again
    # would take a third of its time.
    found = _members.get(cls)
    if found is not None and found.watch.find_change() < 0:
        return found
    found = _members[cls] = Members(cls)
    return found


class Members:
    """Members of a class of this package.

    Attributes:
        watch: Tells whether they are still the same.
        named (dict): Those that matter only to code that has their name.
        others (list): Names and values of those that may matter to any code.
        has_foreign (bool): Whether there are members of the program.

    """

    def __init__(self, cls: type) -> None:
        self.watch = _internal.Watch()
        self.watch.add_class(cls)
        self.named: dict[str, Any] = {}
        self.others: list[tuple[str, Any]] = []
        self.has_foreign = False
        for name, part in vars(cls).items():
            self.has_foreign |= _is_foreign_member(part)
            for function in _functions_of(part):
                self.watch.add_function(function)  # whose code may be replaced
            is_own = type(part) in _METHODS and is_own_object(part)
            if is_constant(part) or (is_own and type(part) is types.FunctionType):
                continue
            if is_own or not issubclass(type(part), (types.FunctionType, *READ_UNNAMED)):
                self.named[name] = part
            else:
                self.others.append((name, part))


def _is_foreign_member(part: Any) -> bool:
    if not isinstance(part, _METHODS):
        kind = type(part)
        if not callable(part) or kind.__module__ == 'builtins':
            return False
    return not is_own_object(part)


def _functions_of(part: Any) -> list[types.FunctionType]:
    """Returns the functions that a member of a class consists of."""
    kind = type(part)
    if kind in (staticmethod, classmethod):
        return _functions_of(part.__func__)
    if kind is property:
        return [f for x in (part.fget, part.fset, part.fdel) for f in _functions_of(x)]
    return [part] if kind is types.FunctionType else []
