"""Which objects come from this package, and which a program has put in their place."""

from __future__ import annotations

import types
from typing import Any

import chainerx
from chainer.compilation._trace import is_framework_code, is_framework_module

_METHODS = types.FunctionType, property, staticmethod, classmethod
#: Watches of the classes of this package in which the program has replaced nothing.
_unchanged: dict[type, Any] = {}


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
    is_imported = kind is types.ModuleType or kind.__module__ == 'typing'
    return value is None or is_imported or is_framework_module(kind.__module__)


def is_patched(kind: type) -> bool:
    """Tells whether a program has replaced methods of this package's classes."""
    # Plans run kernels instead of these methods, so a replaced one would not be called.
    return any(_is_changed(cls) for cls in kind.__mro__ if is_framework_module(cls.__module__))


def _is_changed(cls: type) -> bool:
    """Tells whether a class of this package has members of the program."""
    # Each recording asks for the same few classes: to look at their hundreds of members again
    # would take a tenth of its time.
    watch = _unchanged.get(cls)
    if watch is not None and watch.find_change() < 0:
        return False
    watch = chainerx._core._Watch()
    watch.add_class(cls)
    for part in vars(cls).values():
        if _is_foreign_member(part):
            return True
        for function in _functions_of(part):
            watch.add_function(function)  # whose code may be replaced
    _unchanged[cls] = watch
    return False


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
