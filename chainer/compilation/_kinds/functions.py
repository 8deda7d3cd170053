"""Functions, and what wraps them."""

from __future__ import annotations

import collections
import functools
import types
from typing import TYPE_CHECKING, Any

import numpy

from chainer.compilation._kinds.kind import Kind, names, watch_attributes, watch_parts
from chainer.compilation._trace import GraphBreak, is_framework_code

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Scope


#: NumPy's global generator, and the functions of it that draw and do nothing else.
GENERATOR: Any = getattr(numpy.random.rand, '__self__', None)
DRAWS = frozenset(
    name
    for name, function in vars(numpy.random).items()
    if getattr(function, '__self__', None) is GENERATOR
    and name not in ('get_state', 'seed', 'set_state', 'shuffle')
)


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
        # A variable that the outer function has not set yet, or has deleted.
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
    # Methods in C of an object: what they return depends on it. Those of modules have no state.
    owner = value.__self__
    if owner is not None and not isinstance(owner, types.ModuleType):
        scope.visit(owner, label)


def _watch_cython(scope: Scope, value: Any, label: str) -> None:
    # No trace sees calls of functions that Cython has compiled, so those of others may do anything.
    name = value.__name__
    if name not in DRAWS or vars(numpy.random.RandomState).get(name) is not value:
        raise GraphBreak(f'{label} is a function of unknown effects, which cannot be watched')
    watch_attributes(scope, value, label)
    _watch_named(scope, CYTHON, value, label)


def _watch_generator(scope: Scope, value: Any, label: str) -> None:
    # Recordings see what functions of `numpy.random` draw, which they replace. Methods of other
    # generators belong to classes in C, whose calls nothing can take the place of or see.
    if value is not GENERATOR:
        raise GraphBreak(
            f'{label} is a random number generator of your own: its state changes unseen. Draw by '
            'numpy.random or chainerx.random, or before the call, and pass the array as an argument'
        )


def _watch_method_of_c(scope: Scope, value: Any, label: str) -> None:
    scope.note_reader(value.__name__)


def _watch_field(scope: Scope, value: Any, label: str) -> None:
    _watch_named(scope, FIELD, value, label)


def _watch_ufunc(scope: Scope, value: numpy.ufunc, label: str) -> None:
    # `numpy.frompyfunc` makes ufuncs of functions of the program.
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
    # The first read of its annotations puts them among the attributes, from Python 3.14 on.
    _watch_named(scope, WRAPPER, value, label)
    watch_attributes(scope, value, label)
    scope.visit(value.__func__, label)


def _watch_property(scope: Scope, value: property, label: str) -> None:
    _watch_named(scope, PROPERTY, value, label)
    watch_parts(scope, (value.fget, value.fset, value.fdel), label)


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
    named=names('__annotations__'),
    ended=names('__annotate__'),
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
#: A method of generators, which NumPy compiles with Cython from 2.4 on.
CYTHON = Kind(
    _watch_cython,
    named=names(
        '__name__ __qualname__ __module__ __doc__ __annotations__ __defaults__ __kwdefaults__ '
        '__signature__ func_name func_doc func_defaults'
    ),
    ended=names('__globals__ func_globals func_dict'),
)
_DESCRIPTOR = Kind(_watch_method_of_c, fixed=names(_OF_C))
KINDS: dict[type, Kind] = {
    type(numpy.random.RandomState.rand): CYTHON,
    types.FunctionType: FUNCTION,
    types.MethodType: Kind(
        _watch_method, watched=names('__doc__'), fixed=names('__func__ __self__')
    ),
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
    numpy.random.RandomState: Kind(_watch_generator),
    numpy.random.Generator: Kind(_watch_generator),
    staticmethod: WRAPPER,
    classmethod: WRAPPER,
    property: PROPERTY,
}  # fmt: skip
