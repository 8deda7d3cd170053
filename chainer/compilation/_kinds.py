"""The kinds of Python's objects that a plan may depend on.

The table has a row for each: all that can be read of an object of the kind is watched, cannot
change, or ends the plan if code that ran names it. What has no row ends the plan. ``_objects.py``
has the rows of this package and of the program's own classes.
"""

from __future__ import annotations

import collections
import functools
import types
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer.compilation._trace import (
    GraphBreak,
    is_framework_code,
    is_framework_module,
    is_harmless_module,
    is_program_code,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.compilation._scope import Scope

#: The largest array of NumPy whose elements are compared at each call, in bytes.
_MAX_DATA = 1 << 16
_IMMUTABLE = 1 << 8  # a flag of classes
#: Attributes of classes that no computation reads, unless code names them. Registered subclasses
#: (``_abc_impl``) are a part of the environment.
_NOT_READ = '__dict__', '__weakref__', '__doc__', '_abc_impl', '__annotations__'
#: Those that Python reads where no code names them, such as `__len__`.
_IMPLICIT = {
    name
    for kind in (object, type, float, int, str, list, dict, set, types.GeneratorType, property)
    for name, member in vars(kind).items()
    if name.startswith('__') and callable(member)
} | {'__bool__', '__call__', '__enter__', '__exit__', '__getattr__', '__index__', '__missing__'}


class Kind(NamedTuple):
    """A row of the table.

    Attributes:
        watch: Lets a scope watch an object, and visit those that it refers to.
        watched: Members of its types, besides ``__dict__``, whose changes are noticed.
        fixed: Members that cannot change in the life of an object.
        named: Members that are watched if code names them.
        ended: Members that nothing watches: code that names one ends the plan.

    """

    watch: Callable[[Scope, Any, str], None]
    watched: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def watch_nothing(scope: Scope, value: Any, label: str) -> None:
    """Watches what cannot change, and refers to nothing that can."""


def watch_attributes(scope: Scope, value: Any, label: str, ignored: tuple[str, ...] = ()) -> None:
    """Watches the dict of attributes, and visits what is in it."""
    scope.add(scope.watch.add_attributes, label, value, ignored)
    for name, part in list(vars(value).items()):
        if name not in ignored:
            scope.visit_if_read(name, part, f'{label}.{name}')


# -- containers


def watch_parts(scope: Scope, value: Iterable[Any], label: str) -> None:
    for part in value:
        scope.visit(part, label)


def _watch_items(scope: Scope, value: Any, label: str) -> None:
    scope.add(scope.watch.add_items, label, value)
    watch_parts(scope, list(value), label)  # of a dict the keys
    if isinstance(value, dict):
        watch_parts(scope, list(value.values()), label)


def _watch_ordered(scope: Scope, value: collections.OrderedDict[Any, Any], label: str) -> None:
    _watch_items(scope, value, label)
    scope.add(scope.watch.add_elements, label, value)  # `move_to_end` changes the order alone
    watch_attributes(scope, value, label)


def _watch_default(scope: Scope, value: collections.defaultdict[Any, Any], label: str) -> None:
    _watch_items(scope, value, label)
    scope.add(scope.watch.add_member, f'{label}.default_factory', value, 'default_factory')
    scope.visit(value.default_factory, f'{label}.default_factory')


def _watch_deque(scope: Scope, value: collections.deque[Any], label: str) -> None:
    scope.add(scope.watch.add_elements, label, value)
    watch_parts(scope, list(value), label)


def _watch_slice(scope: Scope, value: slice, label: str) -> None:
    watch_parts(scope, (value.start, value.stop, value.step), label)


def _watch_data(scope: Scope, value: numpy.ndarray[Any, Any], label: str) -> None:
    if value.dtype.hasobject or value.nbytes > _MAX_DATA or not value.flags.c_contiguous:
        raise GraphBreak(
            f'{label} is an array of NumPy that is large, not contiguous or of objects: '
            'send it to the device before, or pass it as an argument'
        )
    if value.base is not None and 'base' in scope.names:
        raise GraphBreak(f'{label}.base cannot be watched')
    try:
        scope.add(scope.watch.add_data, label, value)
    except ValueError:  # such as dates
        raise GraphBreak(f'{label} is an array of {value.dtype}, which cannot be watched') from None


# -- functions and what they are wrapped in


def _watch_named(scope: Scope, kind: Kind, value: Any, label: str) -> None:
    for name in sorted(kind.named):
        if scope.may_name(name) and hasattr(value, name):
            scope.add(scope.watch.add_member, f'{label}.{name}', value, name)
            scope.visit_if_read(name, getattr(value, name), f'{label}.{name}')


def _watch_function(scope: Scope, value: types.FunctionType, label: str) -> None:
    scope.add(scope.watch.add_function, label, value)
    watch_attributes(scope, value, label)
    _watch_named(scope, FUNCTION, value, label)
    code = value.__code__
    if is_framework_code(code):
        for cell in value.__closure__ or ():
            # Such as what a decorator wraps. Other variables are the affair of this package.
            kinds = types.FunctionType, types.MethodType, numpy.ndarray
            if isinstance(cell.cell_contents, kinds):
                scope.visit(cell.cell_contents, label)
        return
    watch_parts(scope, (*(value.__defaults__ or ()), value.__kwdefaults__), label)
    for name, cell in zip(code.co_freevars, value.__closure__ or ()):
        try:
            contents = cell.cell_contents
        except ValueError:  # it is empty
            continue
        scope.visit_variable(code, name, contents)
    function: Any = value  # typeshed does not know all that it has
    scope.visit_code(code, value.__globals__, function.__builtins__)


def _watch_method(scope: Scope, value: types.MethodType, label: str) -> None:
    watch_parts(scope, (value.__func__, value.__self__), label)


def _watch_builtin(scope: Scope, value: Any, label: str) -> None:
    scope.note_reader(value.__name__)
    if type(value) is types.BuiltinFunctionType:
        _watch_named(scope, BUILTIN, value, label)
    owner = value.__self__
    if owner is not None and not isinstance(owner, types.ModuleType):
        scope.visit(owner, label)


def _watch_method_of_c(scope: Scope, value: Any, label: str) -> None:
    scope.note_reader(value.__name__)


def _watch_field(scope: Scope, value: Any, label: str) -> None:
    _watch_named(scope, FIELD, value, label)


def _watch_ufunc(scope: Scope, value: numpy.ufunc, label: str) -> None:
    if getattr(numpy, value.__name__, None) is not value:
        raise GraphBreak(f'{label} is a ufunc that is not one of NumPy: its effects are unknown')
    _watch_named(scope, UFUNC, value, label)
    if hasattr(value, '__dict__'):
        watch_attributes(scope, value, label)


def _watch_partial(scope: Scope, value: functools.partial[Any], label: str) -> None:
    for name in 'func', 'args', 'keywords':  # `__setstate__` replaces them
        scope.add(scope.watch.add_member, f'{label}.{name}', value, name)
        scope.visit(getattr(value, name), label)
    watch_attributes(scope, value, label)


def _watch_wrapper(scope: Scope, value: Any, label: str) -> None:
    watch_attributes(scope, value, label)
    _watch_named(scope, WRAPPER, value, label)
    scope.visit(value.__func__, label)


def _watch_property(scope: Scope, value: property, label: str) -> None:
    _watch_named(scope, PROPERTY, value, label)
    watch_parts(scope, (value.fget, value.fset, value.fdel), label)


# -- modules and classes


def _watch_module(scope: Scope, value: types.ModuleType, label: str) -> None:
    """Watches a module that code has by another name, or passes on."""
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
        if cls.__flags__ & _IMMUTABLE:
            scope.note_reader(cls.__name__)
            # No trace sees that one is called, so they must be known to do nothing else.
            module = cls.__module__
            if not (module in ('builtins', 'types') or is_harmless_module(module)):
                if not issubclass(cls, (numpy.generic, numpy.ndarray, numpy.dtype)):
                    raise GraphBreak(
                        f'{label} is the class {module}.{cls.__name__} of unknown effects'
                    )
            continue
        scope.add(scope.watch.add_class, label, cls)
        scope.visit(type(cls), label)
        is_own = is_framework_module(cls.__module__)
        for name, part in list(vars(cls).items()):
            if name in _NOT_READ and name not in scope.names:
                continue
            if is_own:
                _visit_foreign(scope, name, part, f'{cls.__name__}.{name}')
            elif name in _IMPLICIT and type(part) is not types.FunctionType:
                scope.visit(part, f'{cls.__name__}.{name}')
            # A function that has not run, or comes from a library, matters to nobody.
            elif type(part) is not types.FunctionType or (
                is_program_code(part.__code__) and scope.may_read(name, part)
            ):
                scope.visit_if_read(name, part, f'{cls.__name__}.{name}')


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


# -- the table

_OF_C = '__objclass__ __name__ __qualname__ __doc__ __text_signature__'
FUNCTION = Kind(
    _watch_function,
    watched=names('__code__ __defaults__ __kwdefaults__ __closure__'),
    named=names('__name__ __qualname__ __module__ __doc__ __annotations__ __type_params__'),
    ended=names('__globals__ __builtins__ __annotate__'),
)
BUILTIN = Kind(_watch_builtin, fixed=names(f'{_OF_C} __self__'), named=names('__module__'))
WRAPPER = Kind(
    _watch_wrapper,
    fixed=names('__func__ __wrapped__ __isabstractmethod__'),
    named=names('__annotations__ __annotate__'),
)
PROPERTY = Kind(
    _watch_property,
    fixed=names('fget fset fdel __isabstractmethod__'),
    named=names('__doc__ __name__'),
)
FIELD = Kind(_watch_field, named=names('__doc__'))  # of a named tuple
UFUNC = Kind(
    _watch_ufunc,
    fixed=names('nin nout nargs ntypes types identity signature'),
    named=names('__doc__ __name__ __qualname__ __signature__'),
)
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
_PARTS = Kind(watch_parts)
_ITEMS = Kind(_watch_items)
_DESCRIPTOR = Kind(_watch_method_of_c, fixed=names(_OF_C))
KINDS: dict[type, Kind] = {
    tuple: _PARTS,
    frozenset: _PARTS,
    list: _ITEMS,
    dict: _ITEMS,
    set: _ITEMS,
    collections.OrderedDict: Kind(_watch_ordered),
    collections.defaultdict: Kind(_watch_default, watched=names('default_factory')),
    collections.deque: Kind(_watch_deque, fixed=names('maxlen')),
    types.SimpleNamespace: Kind(watch_attributes),
    slice: Kind(_watch_slice, fixed=names('start stop step')),
    numpy.ndarray: Kind(
        _watch_data,
        watched=names(
            'ndim shape strides data itemsize size nbytes dtype real imag flat T mT flags'
        ),
        fixed=names('ctypes device __array_interface__ __array_struct__ __array_priority__'),
        named=names('base'),
    ),
    types.FunctionType: FUNCTION,
    types.MethodType: Kind(_watch_method, fixed=names('__func__ __self__')),
    types.BuiltinFunctionType: Kind(
        _watch_builtin, fixed=names(f'{_OF_C} __self__ __module__')
    ),
    types.MethodWrapperType: Kind(_watch_builtin, fixed=names(f'{_OF_C} __self__')),
    types.WrapperDescriptorType: _DESCRIPTOR,
    types.MethodDescriptorType: _DESCRIPTOR,
    types.ClassMethodDescriptorType: _DESCRIPTOR,
    types.GetSetDescriptorType: _DESCRIPTOR,
    types.MemberDescriptorType: _DESCRIPTOR,
    # Functions of NumPy: the trace sees them if they are called.
    type(numpy.sum): Kind(watch_attributes, fixed=names('_implementation')),
    numpy.ufunc: UFUNC,
    type(vars(collections.namedtuple('_Pair', 'a'))['a']): FIELD,
    functools.partial: Kind(
        _watch_partial, watched=names('func args keywords'), fixed=names('__vectorcalloffset__')
    ),
    staticmethod: WRAPPER,
    classmethod: WRAPPER,
    property: PROPERTY,
}  # fmt: skip
