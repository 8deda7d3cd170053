"""Modules and classes."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Generic

import numpy

from chainer.compilation._kinds.kind import Kind, names
from chainer.compilation._kinds.ownership import is_own_object, members_of
from chainer.compilation._trace import (
    GraphBreak,
    is_framework_module,
    is_harmless_module,
    is_program_code,
)

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Scope

_IMMUTABLE = 1 << 8  # a flag of classes
#: Attributes of classes that no computation reads, unless code names them. Registered subclasses
#: (``_abc_impl``) are a part of the environment.
_NOT_READ = (
    '__dict__ __weakref__ __doc__ _abc_impl __annotations__ __orig_bases__ __parameters__'
).split()
#: Those that Python reads where no code names them, such as `__len__`.
_IMPLICIT = {
    name
    for kind in (object, type, float, int, str, list, dict, set, types.GeneratorType, property)
    for name, member in vars(kind).items()
    if name.startswith('__') and callable(member)
} | {'__bool__', '__call__', '__enter__', '__exit__', '__getattr__', '__index__', '__missing__'}


def _watch_module(scope: Scope, value: types.ModuleType, label: str) -> None:
    """Watches a module that code has by another name, or passes on."""
    # Its attributes are too many to watch, and code may read any of them by another name.
    if not is_framework_module(value.__name__):
        raise GraphBreak(f'{label} is a module, of which anything may be read: name what you read')
    attributes = vars(value)
    if scope.reads_any:
        scope.add(scope.watch.add_items, label, attributes)
    for name, part in list(attributes.items()):
        if name in scope.names:
            scope.add(scope.watch.add_entry, f'{label}.{name}', attributes, name)
        if name != '__builtins__' or name in scope.names:  # which hold objects of any program
            _visit_foreign(scope, name, part, f'{label}.{name}')
        elif scope.reads_any:
            scope.add(scope.watch.add_items, f'{label}.{name}', part)


def _watch_class(scope: Scope, value: type, label: str) -> None:
    for cls in value.__mro__:
        if id(cls) in scope.known and cls is not value:
            continue
        scope.known[id(cls)] = cls
        if cls is Generic:  # whose subscripts serve type checkers only
            continue
        if cls.__flags__ & _IMMUTABLE:
            scope.note_reader(cls.__name__)
            _check_effects(cls, label)
            continue
        scope.add(scope.watch.add_class, label, cls)
        scope.visit(type(cls), label)
        _visit_members(scope, cls)


def _check_effects(cls: type, label: str) -> None:
    # No trace sees that a class in C is called, so it must be known to do nothing else.
    module = cls.__module__
    is_harmless = (
        module in ('builtins', 'types')
        or is_harmless_module(module)
        or issubclass(cls, (numpy.generic, numpy.ndarray, numpy.dtype))
    )
    if not is_harmless:
        raise GraphBreak(f'{label} is the class {module}.{cls.__name__} of unknown effects')


def _visit_members(scope: Scope, cls: type) -> None:
    # Classes of this package are trusted, but for what the program has put into them.
    if is_framework_module(cls.__module__):
        members = members_of(cls)
        names = members.named if scope.reads_any else members.named.keys() & scope.names
        named = [(name, members.named[name]) for name in sorted(names)]
        for name, part in (*members.others, *named):
            if name not in _NOT_READ or name in scope.names:
                _visit_foreign(scope, name, part, f'{cls.__name__}.{name}')
        return
    for name, part in list(vars(cls).items()):
        if (name in _NOT_READ and name not in scope.names) or _is_of_library(part):
            continue
        label = f'{cls.__name__}.{name}'
        if name in _IMPLICIT and type(part) is not types.FunctionType:
            scope.visit(part, label)
        # A function that has not run matters to nobody.
        elif type(part) is not types.FunctionType or scope.may_read(name, part):
            scope.visit_if_read(name, part, label)


def _is_of_library(member: Any) -> bool:
    """Tells whether a member of a class is a function of a library, which is trusted."""
    # The hooks of abstract base classes are class methods, and many classes have these bases.
    function = member.__func__ if type(member) in (classmethod, staticmethod) else member
    if type(function) is types.FunctionType:
        return not is_program_code(function.__code__)
    return function is types.GenericAlias


def _visit_foreign(scope: Scope, name: str, value: Any, label: str) -> None:
    """Visits what a program has put into a module or a class of this package.

    What the package itself has there is compared by its identity, and trusted in its contents.
    """
    if not scope.may_read(name, value):
        return
    is_own = is_own_object(value)
    if is_own and (name not in scope.names or type(value) is types.FunctionType):
        return
    try:
        scope.visit(value, label)
    except GraphBreak:
        if not is_own:
            raise


CLASS = Kind(
    _watch_class,
    watched=names(
        '__name__ __qualname__ __module__ __base__ __bases__ __mro__ __doc__ __annotations__ '
        '__abstractmethods__ __type_params__'
    ),
    fixed=names(
        '__basicsize__ __itemsize__ __flags__ __weakrefoffset__ __dictoffset__ __text_signature__'
    ),
    ended=names('__subclasses__ __annotate__'),
)
MODULE = Kind(_watch_module, named=names('__annotations__'), ended=names('__annotate__'))
