"""Which objects come from this package, and which a program has put in their place."""

from __future__ import annotations

import types
from typing import Any

from chainer.compilation._trace import is_framework_code, is_framework_module


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
    methods = (types.FunctionType, property, staticmethod, classmethod)
    return any(
        not is_own_object(part) if isinstance(part, methods) else _is_foreign_callable(part)
        for cls in kind.__mro__
        if is_framework_module(cls.__module__)
        for part in vars(cls).values()
    )


def _is_foreign_callable(value: Any) -> bool:
    kind = type(value)
    return callable(value) and kind.__module__ != 'builtins' and not is_own_object(value)
