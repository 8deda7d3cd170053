"""Which code of the program ran during a call, and what of it no plan can repeat.

It listens as :func:`sys.setprofile` does, on all Pythons, with a filter in C++.
:mod:`sys.monitoring` has the same events from 3.12 on, but for all threads at once, so that older
Pythons and other threads would need a second way.
"""

from __future__ import annotations

import collections
import gc
import os
import sys
import sysconfig
import threading
import types
from typing import Any

import numpy

import chainerx
from chainer import optimizer
from chainer.variable import Variable
from chainerx import _internal


class GraphBreak(Exception):  # noqa: N818 - it is no error of the program
    """Why there is no plan of a call."""


class Again(Exception):  # noqa: N818 - it is no error of the program
    """The recording found something that the next one has to know."""


def _folder(module: types.ModuleType) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(module.__file__ or '')), '')


#: Folders of the code that is trusted to change nothing but what recordings see.
_FRAMEWORK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), '')
_FRAMEWORKS = _FRAMEWORK, _folder(chainerx)
#: Those of its parts that bring data from files and from other processes.
_SOURCES_OF_DATA = (
    *[
        os.path.join(_FRAMEWORK, name, '')
        for name in ('dataset', 'datasets', 'exporters', 'iterators', 'serializers')
    ],
    os.path.join(_folder(chainerx), '_files.py'),
)
_READERS_OF_FILES = 'fromfile', 'loadtxt'
_LIBRARIES = (
    os.path.join(sysconfig.get_path('stdlib'), ''),
    os.path.join(os.path.dirname(os.path.abspath(os.__file__)), ''),
    _folder(numpy),
    '<frozen',
)
#: Modules of the standard library that programs may use: they have no state and no effects.
_HARMLESS_MODULES = frozenset(
    (
        'abc collections collections.abc _collections_abc contextlib enum functools numbers types '
    ).split()
)
_HARMLESS_BUILTINS = frozenset(
    (
        'abs all any callable chr divmod format getattr hasattr hash isinstance issubclass iter '
        'len max min next ord pow repr round setattr sorted sum vars __build_class__'
    ).split()
)
_NUMPY_VALUES = numpy.ndarray, numpy.generic, numpy.ufunc
_HARMLESS_OWNERS = (
    str, bytes, int, float, complex, bool, tuple, list, dict, set, frozenset, type(None),
    types.GeneratorType, collections.OrderedDict, collections.defaultdict, collections.deque,
)  # fmt: skip
#: Functions of NumPy whose results depend on nothing but their arguments, whose data are watched.
#: Those with an underscore are what methods of arrays call.
_HARMLESS_NUMPY = frozenset(
    (
        'all allclose amax amin any arange argmax argmin argsort around array array_equal '
        'array_split asarray ascontiguousarray atleast_1d atleast_2d atleast_3d average bincount '
        'broadcast_arrays broadcast_shapes broadcast_to clip concatenate cross cumprod cumsum diag '
        'diagonal diff dot dsplit dstack einsum expand_dims eye flip fliplr flipud full '
        'full_like hsplit hstack identity indices inner interp isclose isscalar issubdtype kron '
        'linspace logspace max mean median meshgrid min moveaxis ndim nonzero ones ones_like outer '
        'pad prod ptp ravel repeat reshape result_type roll rollaxis rot90 round searchsorted '
        'shape size sort split squeeze stack std sum swapaxes take take_along_axis tensordot tile '
        'trace transpose tri tril tril_indices triu triu_indices unique vander var vdot vsplit '
        'vstack where zeros zeros_like '
        '_all _amax _amin _any _clip _mean _prod _ptp _std _sum _var'
    ).split()
)
#: What is answered to the listener of calls; see `python/call_listener.h`.
_TELL_AGAIN, _IS_TRUSTED, _IS_PROGRAM = range(3)
#: What runs the program's Python in an update.
_UPDATES = optimizer.Optimizer.call_hooks.__code__, optimizer.UpdateRule.update.__code__
_FINALIZER = '__del__'  # of something that happens to be collected now
_SHOWS_WARNINGS = '_showwarnmsg'  # which Python calls of warnings that no filter suppresses
_METHODS_THAT_WRITE_FILES = 'dump', 'tofile'
_HARMLESS_NATIVE_MODULES = frozenset(
    (
        'math cmath operator _operator itertools functools _functools collections _collections'
    ).split()
)


def is_framework_file(path: str) -> bool:
    """Tells whether a file belongs to this package or to ChainerX."""
    return path.startswith(_FRAMEWORKS)


def is_framework_module(name: Any) -> bool:
    """Tells whether a name is that of a module of this package or of ChainerX."""
    return isinstance(name, str) and f'{name}.'.startswith(('chainer.', 'chainerx.'))


def is_harmless_module(name: str) -> bool:
    """Tells whether functions and classes in C of a module have no state and no effects."""
    return name in _HARMLESS_NATIVE_MODULES or name.startswith('chainerx')


def is_framework_code(code: types.CodeType) -> bool:
    """Tells whether code belongs to this package or to ChainerX."""
    return is_framework_file(code.co_filename)


def is_program_code(code: types.CodeType) -> bool:
    """Tells whether code belongs to the program: to none of the packages that it uses."""
    return not code.co_filename.startswith((*_FRAMEWORKS, *_LIBRARIES))


def describe(code: types.CodeType, line: int | None) -> str:
    """Names a line of a file."""
    return f'{os.path.basename(code.co_filename)}:{line}'


def current_line() -> str:
    """Names the line of the program that is running."""
    frame: Any = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if is_program_code(code):
            return describe(code, frame.f_lineno)
        frame = frame.f_back
    return 'an unknown line'


def _is_import(frame: types.FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename.startswith('<frozen importlib')


def _is_in_update(frame: types.FrameType) -> bool:
    """Tells whether a hook or a rule of an update calls."""
    caller: Any = frame.f_back
    while caller is not None:
        if caller.f_code in _UPDATES:
            return True
        caller = caller.f_back
    return False


class Trace:
    """Notes the code that runs while it is active.

    Attributes:
        codes (dict): Code of the program that ran, by ``id``.
        graph_break (str): The first thing found that no plan repeats, or ``None``.
        backpropagated (list of Variables): What ``backward`` was called of.
        warns (bool): Whether this package warned. A warning that is shown is a graph break.
        last_builtin: The function in C that code of the program called last.

    """

    def __init__(self) -> None:
        self._listener = _internal.CallListener()
        self.clear()

    def clear(self) -> None:
        """Forgets what it noted, as soon as nobody asks for it: the variables have graphs.

        Which code belongs to the package, the next call need not find again.
        """
        self._listener.forget_program()
        self.codes: dict[int, types.CodeType] = {}
        self.graph_break: str | None = None
        self.backpropagated: list[Variable] = []
        self.warns = False
        self.last_builtin: Any = None
        self._is_collecting = False

    def note(self, what: str) -> None:
        """Notes a graph break at the line of the program that is running."""
        if self.graph_break is None:
            self.graph_break = f'{what} ({current_line()})'

    def start(self, *, skips_updates: bool = False) -> None:
        """Starts or goes on.

        ``skips_updates``: whether to leave out what recordings leave out by stopping meanwhile.
        """
        self._skips_updates = skips_updates
        self._thread = threading.get_ident()
        # From Python 3.12 on, this rewrites the code that is running, so each start has its cost.
        # Around the callbacks of others, which run in this order both times.
        gc.callbacks.insert(0, self._on_collection_start)
        gc.callbacks.append(self._on_collection_stop)
        self._listener.start(self._on_call, self._on_builtin, self._on_warning)

    def stop(self) -> None:
        """Stops or interrupts."""
        self._listener.stop()
        gc.callbacks.remove(self._on_collection_start)
        gc.callbacks.remove(self._on_collection_stop)

    def _on_collection_start(self, phase: str, info: Any) -> None:
        # Finalizers and callbacks of garbage have nothing to do with the call. They may warn, close
        # files and so on, at a moment of the collector's choice, and would end a plan by chance.
        if phase == 'start' and threading.get_ident() == self._thread:
            self._is_collecting = True

    def _on_collection_stop(self, phase: str, info: Any) -> None:
        if phase == 'stop' and threading.get_ident() == self._thread:
            self._is_collecting = False

    def _on_call(self, frame: types.FrameType) -> int:
        """Looks at a call of code that is not known; returns what the listener does with others."""
        if self._is_collecting:
            return _TELL_AGAIN
        code, path = frame.f_code, frame.f_code.co_filename
        if is_framework_file(path) or (
            path.startswith('<string>') and is_framework_module(frame.f_globals.get('__name__'))
        ):
            return self._on_framework(frame, code)
        if path.startswith(_LIBRARIES) or _is_import(frame.f_back):
            self._on_library(frame)
            return _TELL_AGAIN
        if self._skips_updates and _is_in_update(frame):
            return _TELL_AGAIN
        self.codes[id(code)] = code
        return _IS_PROGRAM

    def _on_framework(self, frame: types.FrameType, code: types.CodeType) -> int:
        name = code.co_name
        if name == 'backward':
            self._on_backward(frame)
            return _TELL_AGAIN
        is_source = code.co_filename.startswith(_SOURCES_OF_DATA) or name in _READERS_OF_FILES
        if is_source and name != _FINALIZER:
            self.note(f'a call of {name}')
            return _TELL_AGAIN
        return _IS_TRUSTED

    def _on_library(self, frame: types.FrameType) -> None:
        if frame.f_code.co_name == _SHOWS_WARNINGS:
            self.note('a warning')
        # What this package calls is its own affair.
        entry, caller = frame, frame.f_back
        while caller is not None and (
            caller.f_code.co_filename.startswith(_LIBRARIES) or _is_import(caller.f_back)
        ):
            entry, caller = caller, caller.f_back
        if caller is None or is_framework_code(caller.f_code):
            return
        module, name = entry.f_globals.get('__name__', ''), entry.f_code.co_name
        if name == _FINALIZER or frame.f_globals.get('__name__') in _HARMLESS_MODULES:
            return
        if module.startswith('numpy.') and (
            name in _HARMLESS_NUMPY or name.endswith('_dispatcher')  # of arguments
        ):
            return
        self.note(f'a call of {module}.{name}')

    def _on_backward(self, frame: types.FrameType) -> None:
        variable = frame.f_locals.get('self')
        if isinstance(variable, Variable):
            self.backpropagated.append(variable)

    def _on_warning(self) -> None:
        if not self._is_collecting:
            self.warns = True

    def _on_builtin(self, function: Any) -> None:
        """Looks at a call of a function in C by the program."""
        if self._is_collecting:
            return
        self.last_builtin = function
        owner = getattr(function, '__self__', None)
        module = getattr(function, '__module__', None)
        if module is None and isinstance(owner, types.ModuleType):
            module = owner.__name__
        name = getattr(function, '__name__', repr(function))
        if module is None:
            kind = owner if isinstance(owner, type) else type(owner)
            harmless = _is_harmless_method(getattr(function, '__objclass__', kind), name)
        elif module == 'builtins':
            harmless = name in _HARMLESS_BUILTINS
        elif module == 'numpy':
            harmless = name in _HARMLESS_NUMPY
        else:
            harmless = is_harmless_module(module)
        # The garbage collector runs finalizers when it likes, in eager calls, too.
        if not harmless and name != _FINALIZER:
            self.note(f'a call of {name}')


def _is_harmless_method(kind: type, name: str) -> bool:
    """Tells whether a method in C of a class changes nothing but its object."""
    return (
        kind in _HARMLESS_OWNERS
        or kind.__module__.startswith('chainerx')
        or (issubclass(kind, _NUMPY_VALUES) and name not in _METHODS_THAT_WRITE_FILES)
    )
